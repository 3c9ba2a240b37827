"""Take the global norm of gradients that are sharded over different axes of a mesh.

Write what each device of a `shard_map` over ("data", "model") does: it has its shards
of some gradients, and the spec of each, and returns the norm of all of them together.
A gradient is replicated along the axes that its spec does not name.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

SPECS = {
    "up": P("data", "model"),
    "down": P("model"),
    "position": P(None, "data"),
    "table": P(("data", "model")),
    "scale": P(),
}


def solution(grads, specs):
    """Add the squares of each gradient over the axes that its spec names."""
    total = jnp.float32(0)
    for name, grad in grads.items():
        squares = (grad**2).sum()
        axes = jax.tree.leaves(tuple(specs[name]))
        total += lax.psum(squares, tuple(axes)) if axes else squares
    return jnp.sqrt(total)


def check(norm):
    """Raise AssertionError, with what to look at, unless `norm` is right.

    norm(grads, specs): shards of five gradients on a mesh of (2, 4), to a number.
    """
    shapes = {"up": (4, 8), "down": (8, 3), "position": (2, 6)}
    shapes |= {"table": (16, 2), "scale": (5,)}
    host = {
        name: np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 7
        for name, shape in shapes.items()
    }

    def body(grads):
        answer = norm(grads, SPECS)
        assert isinstance(answer, jax.Array) and answer.shape == (), (
            f"the norm is one number; yours: {np.shape(answer) or answer!r}"
        )
        return answer

    with jax.set_mesh(jax.make_mesh((2, 4), ("data", "model"))):
        mapped = jax.jit(jax.shard_map(body, in_specs=(SPECS,), out_specs=P()))
        for names in (["up"], ["down"], ["position"], ["table"], ["scale"], [*host]):
            some = {k: x if k in names else 0 * x for k, x in host.items()}
            expected = np.sqrt(sum((x**2).sum() for x in some.values()))
            try:
                found = mapped(jax.device_put(some, SPECS))
            except ValueError as error:
                if "replication" in str(error):
                    raise AssertionError(
                        "each device has a norm of its own: add over every axis that "
                        "a spec names"
                    ) from None
                raise
            which = f"{names[0]!r}, {SPECS[names[0]]}" if len(names) == 1 else "all"
            assert np.isclose(found, expected, rtol=1e-5), (
                f"the norm of {which} should be {expected:.3f}; yours is {found:.3f}, "
                f"{(found / expected) ** 2:.3g} times the squares"
            )
    print("The check passes.")


def mistake_adds_over_all_axes(grads, specs):
    """You summed over the whole mesh, so replicated gradients count several times."""
    squares = sum((grad**2).sum() for grad in grads.values())
    return jnp.sqrt(lax.psum(squares, ("data", "model")))


def mistake_adds_only_over_model(grads, specs):
    """You averaged over `data`, along which some of the gradients are sharded."""
    squares = sum((grad**2).sum() for grad in grads.values())
    return jnp.sqrt(lax.pmean(lax.psum(squares, "model"), "data"))


def mistake_keeps_its_own(grads, specs):
    """You took the norm of one device's shards, without a `psum`."""
    return jnp.sqrt(sum((grad**2).sum() for grad in grads.values()))
