"""Take a gradient within a limit of memory, and change none of its numbers.

Given params, xs, float32 (500, 16), and ys, (500, 10), return the gradient of the sum
of all losses with respect to params, with at most 4 MB of temporaries: half of what the
hidden activations of all examples take.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from examples.tools.text import bytes_text
from examples.vmap.memory import temporaries

LIMIT = 4_000_000  # bytes


def loss(params, x, y):
    """Return the squared error of one example, (), by way of 4096 hidden numbers."""
    hidden = jax.nn.relu(x @ params["w1"])
    return ((hidden @ params["w2"] - y) ** 2).sum()


def total(params, xs, ys):
    """Return the sum of all losses, (), with all examples at once."""
    return jax.vmap(loss, in_axes=(None, 0, 0))(params, xs, ys).sum()


def solution(params, xs, ys):
    """Return its gradient: 50 examples at a time, whose residuals are recomputed."""

    def in_chunks(params):
        def loss_of(example):
            return jax.checkpoint(loss)(params, *example)

        return lax.map(loss_of, (xs, ys), batch_size=50).sum()

    return jax.grad(in_chunks)(params)


def check(gradient):
    """Raise AssertionError, with what to look at, unless `gradient` is right.

    gradient(params, xs, ys): to a dict like params.
    """
    rng = np.random.default_rng(0)
    params = {"w1": rng.normal(size=(16, 4096)), "w2": rng.normal(size=(4096, 10))}
    params = {name: jnp.float32(value / 8) for name, value in params.items()}
    xs, ys = jnp.float32(rng.normal(size=(500, 16))), jnp.ones((500, 10))
    with jax.default_matmul_precision("highest"):
        found = gradient(params, xs, ys)
        expected = jax.jit(jax.grad(total))(params, xs, ys)
    shapes = (
        {k: np.shape(v) for k, v in found.items()} if hasattr(found, "items") else {}
    )
    assert shapes == {k: v.shape for k, v in params.items()}, (
        "the gradient must be a dict with the same shapes as params; you returned "
        f"{shapes or found}"
    )
    assert all(
        np.allclose(found[k], expected[k], rtol=1e-4, atol=1e-3) for k in params
    ), (
        "the numbers differ from those of grad and vmap: is every example in the sum, "
        "once?"
    )
    held = temporaries(gradient, params, xs, ys)
    assert held <= LIMIT or jax.default_backend() != "cpu", (
        f"the temporaries take {bytes_text(held)}, {bytes_text(LIMIT)} is the limit: "
        "how many examples are computed at once, and whose residuals are kept?"
    )
    print("The check passes.")


def mistake_checkpoints_all_examples(params, xs, ys):
    """You put `checkpoint` under `vmap`, so all examples are recomputed at once."""

    def at_once(params):
        losses = jax.vmap(jax.checkpoint(loss), in_axes=(None, 0, 0))
        return losses(params, xs, ys).sum()

    return jax.grad(at_once)(params)


def mistake_keeps_every_chunk(params, xs, ys):
    """You left out `checkpoint`, so the residuals of all chunks are kept."""

    def in_chunks(params):
        examples = xs, ys
        return lax.map(lambda e: loss(params, *e), examples, batch_size=50).sum()

    return jax.grad(in_chunks)(params)


def mistake_drops_the_rest(params, xs, ys):
    """You left out the 52 examples that do not fill a chunk of 64."""
    chunks = xs[:448].reshape(-1, 64, 16), ys[:448].reshape(-1, 64, 10)
    slopes = lax.map(lambda chunk: jax.grad(total)(params, *chunk), chunks)
    return jax.tree.map(lambda slope: jnp.sum(slope, axis=0), slopes)


def mistake_keeps_all_sums(params, xs, ys):
    """You stacked the gradients of all 100 chunks before you added them."""
    chunks = xs.reshape(-1, 5, 16), ys.reshape(-1, 5, 10)
    slopes = lax.map(lambda chunk: jax.grad(total)(params, *chunk), chunks)
    return jax.tree.map(lambda slope: jnp.sum(slope, axis=0), slopes)
