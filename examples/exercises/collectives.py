"""Shift blocks around a ring of eight devices.

Write `shift(x, n)` for the body of a `pmap` with the axis "rows": each device returns
the block of the device `n` places to its left, around the end. `n` may be negative.
"""

import jax
import numpy as np
from jax import lax


def solution(x, n):
    """Return the shard of the device `n` places to the left: (k,) gives (k,)."""
    ring = [(source, (source + n) % 8) for source in range(8)]
    return lax.ppermute(x, "rows", ring)


def check(shift):
    """Raise AssertionError, with what to look at, unless `shift` is right.

    shift(x, n): float32 `(3,)` on each of eight devices, and an int, to `(3,)`.
    """
    x = np.arange(24, dtype=np.float32).reshape(8, 3)
    for n in (0, 1, 3, -2):
        mapped = jax.pmap(lambda x, n=n: shift(x, n), "rows")
        found = mapped(x)
        assert np.shape(found) == x.shape, (
            f"a block of shape (3,) should come back; yours has {np.shape(found)[1:]}"
        )
        lost = [d for d in range(8) if n and not np.any(found[d])]
        assert len(lost) < 2, (
            f"with n = {n}, devices {lost} hold zeros: who sent there?"
        )
        assert np.array_equal(found, np.roll(x, n, axis=0)), (
            f"with n = {n}, each device should hold the block of the device {n} places "
            "to its left; compare np.roll(x, n, axis=0) over all eight"
        )
    print("The check passes.")


def mistake_sends_backwards(x, n):
    """You wrote the pairs as (to, from), but `ppermute` reads them as (from, to)."""
    return lax.ppermute(x, "rows", [((s + n) % 8, s) for s in range(8)])


def mistake_stops_at_the_end(x, n):
    """You left out the pairs that go around the end: those devices receive zeros."""
    inside = [(s, s + n) for s in range(8) if 0 <= s + n < 8]
    return lax.ppermute(x, "rows", inside)


def mistake_rolls_the_block(x, n):
    """You used `jnp.roll`, which moves numbers within each shard and sends nothing."""
    return jax.numpy.roll(x, n, axis=0)
