"""Multiply an array by itself, along the axis that devices have to add over.

Given `x`, float32 (n, k), sharded over "data" and "model" with Explicit axes, and its
mesh in the context, return `x.T @ x`, (k, k), sharded by its rows over "model".
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

TILED = P("data", "model")


def solution(x):
    """Return `x.T @ x`: the types cannot tell, so the answer is named."""
    return jnp.matmul(x.T, x, out_sharding=P("model", None))


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x): float32 (n, k), sharded as TILED, to (k, k), sharded as P("model", None).
    """
    for shape, (n, k) in (((4, 2), (8, 8)), ((2, 4), (6, 4))):
        mesh = jax.make_mesh(shape, ("data", "model"))
        whole = np.arange(n * k, dtype=np.float32).reshape(n, k) % 5
        x = jax.device_put(whole, NamedSharding(mesh, TILED))
        try:
            with jax.set_mesh(mesh):
                found = make(x)
        except Exception as error:
            kind, said = type(error).__name__, str(error).splitlines()[0]
            raise AssertionError(f"it raised {kind}: {said}") from None
        assert np.shape(found) == (k, k), (
            f"the product of {(k, n)} and {(n, k)} has to come back as {(k, k)}; "
            f"yours has shape {np.shape(found)}"
        )
        assert np.array_equal(found, whole.T @ whole), (
            "the numbers differ from NumPy's: has every row of x been added?"
        )
        split = NamedSharding(mesh, P("model", None))
        assert found.sharding.is_equivalent_to(split, 2), (
            'the answer has to be sharded as P("model", None), '
            f"yours is sharded as {found.sharding.spec}"
        )
    print("The check passes.")


def mistake_moves_the_answer(x):
    """You resharded the product, but `x.T @ x` raises before `reshard` is reached."""
    return jax.reshard(x.T @ x, P("model", None))


def mistake_constrains(x):
    """You constrained the product, but on Explicit axes `x.T @ x` itself raises."""
    return lax.with_sharding_constraint(x.T @ x, P("model", None))


def mistake_makes_it_whole(x):
    """You replicated `x`: the numbers are right, but the result is replicated too."""
    whole = jax.reshard(x, P())
    return whole.T @ whole


def mistake_keeps_the_split(x):
    """You sharded the result over `data`, the axis of the sum, instead of `model`."""
    return jnp.matmul(x.T, x, out_sharding=P("data", None))
