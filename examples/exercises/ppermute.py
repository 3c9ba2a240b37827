"""Add both neighbors of every number, where some neighbors are on other devices.

Given x, float32 (m,), split over the mesh axis "rows", return y, split alike, with
y[i] = x[i - 1] + x[i + 1]; before the first and after the last number there is zero.
Each device may send one number to either side.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.collectives.ppermute import ring, shift
from examples.tools.traffic import sends

ROWS = P("rows")


def solution(x, mesh):
    """Send the last number on and the first one back, and leave the ends without."""

    def body(block):
        n = lax.axis_size("rows")
        before = lax.ppermute(block[-1:], "rows", shift(n))
        after = lax.ppermute(block[:1], "rows", shift(n, -1))
        padded = jnp.concatenate([before, block, after])
        return padded[:-2] + padded[2:]

    return jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)


def check(add_neighbors):
    """Raise AssertionError, with what to look at, unless `add_neighbors` is right.

    add_neighbors(x, mesh): float32 (24,) on eight devices to float32 (24,).
    """
    mesh = jax.make_mesh((8,), ("rows",))
    numbers = np.arange(24, dtype=np.float32) * 17 % 29 + 1
    x = jax.device_put(numbers, NamedSharding(mesh, ROWS))
    found, padded = np.asarray(add_neighbors(x, mesh)), np.pad(numbers, 1)
    assert found.shape == (24,), (
        "24 numbers need 24 sums, in an array of shape (24,); "
        f"yours has shape {found.shape}"
    )
    wrong = np.flatnonzero(found != padded[:-2] + padded[2:])
    inside = wrong[wrong % 3 == 1]  # the middle one of the three on a device
    assert not len(inside), f"the sum is wrong at {inside[0]}, between two of one block"
    assert not len(wrong) or set(wrong) - {0, 23}, (
        f"the sum is wrong at {wrong[0]}: nothing is beside it, yet something was added"
    )
    assert not len(wrong), (
        f"the sum is wrong at {wrong[0]}, beside another device: "
        "who sends there, and which of its numbers?"
    )
    sent = sends(jax.jit(lambda x: add_neighbors(x, mesh)).lower(x))
    assert {each.kind for each in sent} == {"collective-permute"}, (
        f"only neighbors need to talk; this is {', '.join(each.kind for each in sent)}"
    )
    moved = sum(each.moved * each.times for each in sent)
    assert moved <= 8, (
        f"each device sends {moved} bytes; one number to either side has 8"
    )


def _with(before, after):
    """Return a solution whose pairs are `before(n)` and `after(n)`."""

    def add_neighbors(x, mesh):
        def body(block):
            n = lax.axis_size("rows")
            left = lax.ppermute(block[-1:], "rows", before(n))
            right = lax.ppermute(block[:1], "rows", after(n))
            padded = jnp.concatenate([left, block, right])
            return padded[:-2] + padded[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)

    return add_neighbors


def mistake_goes_around(x, mesh):
    """Take a ring, so that the two ends become neighbors."""
    return _with(ring, lambda n: ring(n, -1))(x, mesh)


def mistake_sends_backwards(x, mesh):
    """Read a pair as (to, from), so that each gets the numbers of the wrong side."""
    return _with(lambda n: shift(n, -1), shift)(x, mesh)


def mistake_stays_at_home(x, mesh):
    """Add zeros at both ends of each block, as if it were the whole array."""

    def body(block):
        padded = jnp.pad(block, 1)
        return padded[:-2] + padded[2:]

    return jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)


def mistake_sends_the_block(x, mesh):
    """Send whole blocks to both sides, of which one number each is read."""

    def body(block):
        n = lax.axis_size("rows")
        before = lax.ppermute(block, "rows", shift(n))
        after = lax.ppermute(block, "rows", shift(n, -1))
        padded = jnp.concatenate([before[-1:], block, after[:1]])
        return padded[:-2] + padded[2:]

    return jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)
