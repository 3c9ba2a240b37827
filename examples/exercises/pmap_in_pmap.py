"""Take the mean along one axis of a grid of devices.

Given `x` `(4, 2, 3)`, one row of three numbers on each device of a grid, return `x`
less its mean over the mesh axis "rows", sharded as it came.
"""

import jax
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

GRID = P("rows", "inner")


def solution(x, mesh):
    """Return `x` less its mean over "rows": (4, 2, 3) to (4, 2, 3), sharded as GRID."""

    def subtract(x):
        return x - lax.pmean(x, "rows")

    return jax.shard_map(subtract, mesh=mesh, in_specs=GRID, out_specs=GRID)(x)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x, mesh): float32 `(4, 2, 3)`, sharded as GRID, to the same.
    """
    mesh = jax.make_mesh((4, 2), ("rows", "inner"))
    whole = np.arange(24, dtype=np.float32).reshape(4, 2, 3) * 4 % 13
    found = make(jax.device_put(whole, NamedSharding(mesh, GRID)), mesh)
    assert np.shape(found) == whole.shape, (
        f"the answer has the shape of x, {whole.shape}; yours has {np.shape(found)}"
    )
    held = len(found.sharding.device_set)
    assert held == 8, f"the answer lies on {held} of 8 devices; it should stay sharded"
    both = np.array_equal(found, whole - whole.mean(axis=(0, 1)))
    assert not both, "the two columns were averaged as well: name one axis only"
    assert np.array_equal(found, whole - whole.mean(axis=0)), (
        "the numbers differ from `x - x.mean(axis=0)` on one device: "
        "which axis did you name?"
    )
    print("The check passes.")


def mistake_names_both(x, mesh):
    """You averaged over both mesh axes instead of `rows` alone."""

    def subtract(x):
        return x - lax.pmean(x, ("rows", "inner"))

    return jax.shard_map(subtract, mesh=mesh, in_specs=GRID, out_specs=GRID)(x)


def mistake_names_the_other(x, mesh):
    """You averaged over `inner` instead of `rows`."""

    def subtract(x):
        return x - lax.pmean(x, "inner")

    return jax.shard_map(subtract, mesh=mesh, in_specs=GRID, out_specs=GRID)(x)


def mistake_averages_the_block(x, mesh):
    """You took `mean(axis=0)` of a shard, which has one row, so the result is zero."""

    def subtract(x):
        return x - x.mean(axis=0)

    return jax.shard_map(subtract, mesh=mesh, in_specs=GRID, out_specs=GRID)(x)
