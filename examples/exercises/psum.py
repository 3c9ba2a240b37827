"""Take the norm of all gradients, of which some are sharded and some are replicated.

Gradients are clipped by the norm of all of them together. Each device holds a shard of
the gradient of the weights, and all of the gradient of the bias. Write the body of a
`shard_map` over "data" that returns the norm, the same number on every device.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends


def solution(weights, bias):
    """Return the norm: add what is sharded over the devices, and count the rest once.

    float32 (k,) of the weights, sharded, and float32 (m,), replicated, give ().
    """
    squares = lax.psum((weights**2).sum(), "data")
    return jnp.sqrt(squares + (bias**2).sum())


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(weights, bias): float32 (k,), sharded, and (m,), replicated, to float32 ().
    """
    for n in (2, 8):
        mesh = jax.make_mesh((n,), ("data",))
        weights = np.arange(3 * n, dtype=np.float32) % 5
        bias = np.float32([1, 2, 4])

        def body(weights, bias):
            answer = make(weights, bias)
            assert answer is not ..., "not written yet: return the norm"
            assert isinstance(answer, jax.Array) and answer.shape == (), (
                "the norm is one number, an array of shape (); "
                f"yours is {np.shape(answer) or type(answer).__name__}"
            )
            assert not jax.typeof(answer).manual_axis_type.varying, (
                "the norm should be the same on every device; by its type, "
                f"{jax.typeof(answer)}, it is not: who was not asked?"
            )
            return answer

        norm = np.sqrt((weights**2).sum() + (bias**2).sum())
        with jax.set_mesh(mesh):
            placed = jax.device_put((weights, bias), (P("data"), P()))
            mapped = jax.shard_map(body, in_specs=(P("data"), P()), out_specs=P())
            found = jax.jit(mapped)(*placed)
            moving = sends(jax.jit(mapped).lower(*placed))
        assert np.allclose(found, norm, rtol=1e-5), (
            f"on {n} devices the norm is {norm:.4f}, yours is {found:.4f}: "
            "is each number of both gradients squared and counted once?"
        )
        operand = sum(sent.operand for sent in moving)
        assert operand <= 8, (
            f"one number from each device is enough; yours puts in {operand} bytes"
        )
    print("The check passes.")


def mistake_adds_everything(weights, bias):
    """You put both under the `psum`, so the bias counts once for each device."""
    return jnp.sqrt(lax.psum((weights**2).sum() + (bias**2).sum(), "data"))


def mistake_adds_norms(weights, bias):
    """You added norms instead of squares, which gives more than the norm of all."""
    norms = lax.psum(jnp.linalg.norm(weights), "data")
    return norms + jnp.linalg.norm(bias)


def mistake_takes_the_mean(weights, bias):
    """You used `pmean`, which divides the sum by the number of devices."""
    return jnp.sqrt(lax.pmean((weights**2).sum(), "data") + (bias**2).sum())


def mistake_asks_nobody(weights, bias):
    """You left out the `psum`: `sum` in the body adds only one device's numbers."""
    return jnp.sqrt((weights**2).sum() + (bias**2).sum())


def mistake_gathers_the_gradient(weights, bias):
    """You gathered all shards, where one number of each device is enough."""
    everything = lax.all_gather(weights, "data", tiled=True, to="invarying")
    return jnp.sqrt((everything**2).sum() + (bias**2).sum())
