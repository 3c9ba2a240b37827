"""Divide every row by its sum, when no device holds a whole row.

Given `x` `(n, k)`, sharded by columns over the mesh axis "inner", return `x` with every
row divided by its sum, sharded as it came.
"""

import jax
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

COLUMNS = P(None, "inner")


def solution(x, mesh):
    """Return `x` with rows that add up to 1: only the sums are communicated."""

    def divide(x):
        mine = x.sum(axis=1, keepdims=True)
        return x / lax.psum(mine, "inner")

    spec = P(None, "inner")  # columns
    return jax.shard_map(divide, mesh=mesh, in_specs=spec, out_specs=spec)(x)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x, mesh): float32 `(n, k)`, sharded by columns over "inner", to the same.
    """
    for count, n, k in [(8, 4, 16), (8, 3, 8), (2, 2, 6)]:
        mesh = jax.make_mesh((count,), ("inner",))
        whole = rows(n, k)
        x = jax.device_put(whole, NamedSharding(mesh, COLUMNS))
        with jax.set_mesh(mesh):
            found = make(x, mesh)
        assert np.shape(found) == (n, k), (
            f"{(n, k)} on {count} devices has to come back as {(n, k)}; "
            f"yours has shape {np.shape(found)}"
        )
        sums = np.asarray(found).sum(axis=1)
        assert np.array_equal(found, whole / whole.sum(axis=1, keepdims=True)), (
            f"on {count} devices the rows have to add up to 1; yours add up to {sums}: "
            "is the divisor the sum of the whole row, and the same for all its columns?"
        )
        assert isinstance(found, jax.Array), "the answer has to stay on the devices"
        held = {shard.data.shape for shard in found.addressable_shards}
        assert held == {(n, k // count)}, (
            f"every device has to keep its own {k // count} columns; "
            f"yours hold shards of shape {held}"
        )
    print("The check passes.")


def rows(n, k):
    """Return (n, k) float32 whole numbers whose row sums are powers of two: exact."""
    x = np.arange(n * k, dtype=np.float32).reshape(n, k) % 5
    x[:, -1] += 128 - x.sum(axis=1)
    return x


def mistake_divides_by_its_own_part(x, mesh):
    """You divided by the sum of the device's own columns, not of the whole row."""

    def divide(x):
        return x / x.sum(axis=1, keepdims=True)

    return jax.shard_map(divide, mesh=mesh, in_specs=COLUMNS, out_specs=COLUMNS)(x)


def mistake_takes_the_mean(x, mesh):
    """You used `pmean`, which divides the row's sum by the number of devices."""

    def divide(x):
        return x / lax.pmean(x.sum(axis=1, keepdims=True), "inner")

    return jax.shard_map(divide, mesh=mesh, in_specs=COLUMNS, out_specs=COLUMNS)(x)


def mistake_adds_the_blocks(x, mesh):
    """You passed the shard to `psum`, which adds shards element by element."""

    def divide(x):
        return x / lax.psum(x, "inner")

    return jax.shard_map(divide, mesh=mesh, in_specs=COLUMNS, out_specs=COLUMNS)(x)


def mistake_brings_the_rows_together(x, mesh):
    """You replicated the array, so the result is no longer sharded."""
    whole = jax.device_put(x, NamedSharding(mesh, P()))
    return whole / whole.sum(axis=1, keepdims=True)
