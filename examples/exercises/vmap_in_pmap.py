"""Map a function over any number of rows, on all devices.

Given `f`, which takes one row `(k,)`, return a function that
takes rows `(n, k)` and returns `f` of every row, `(n, ...)`, in the order of the rows.
All devices take part, and `n` need not be a multiple of their number.
"""

import jax
import jax.numpy as jnp
import numpy as np


def fold(rows):
    """Return `rows` (n, k), and zeros to fill up, as float32 (devices, m, k)."""
    devices = jax.device_count()
    full = np.pad(rows, ((0, -len(rows) % devices), (0, 0)))
    return full.reshape(devices, -1, rows.shape[1])


def solution(f):
    """Pad and fold the rows, map, unfold, and drop what was padded."""
    mapped = jax.pmap(jax.vmap(f))

    def every(rows):
        out = mapped(fold(rows))
        return out.reshape(-1, *out.shape[2:])[: len(rows)]

    return every


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(f): f takes float32 `(3,)`; what make returns takes NumPy rows,
    float32 `(n, 3)`.
    """
    for f in (lambda row: jnp.vdot(row, row) + 1, lambda row: -row):
        every = make(f)
        assert callable(every), f"make(f) returns a function, not {every!r}"
        for n in (8, 1000, 1003, 3):
            rows = np.arange(3 * n, dtype=np.float32).reshape(n, 3) % 101
            found, expected = every(rows), jax.vmap(f)(rows)
            assert np.shape(found) == expected.shape, (
                f"{n} rows need {n} answers, here in an array of shape "
                f"{expected.shape}; yours has shape {np.shape(found)}"
            )
            assert np.array_equal(found, expected), (
                f"with {n} rows the answers are not those of the rows in their order: "
                "does unfolding undo what folding did?"
            )
            everywhere = getattr(found, "sharding", None)
            assert everywhere and everywhere.device_set == set(jax.devices()), (
                f"with {n} rows the answers do not lie on all devices: "
                "did each of them take part?"
            )
    print("The check passes.")


def mistake_drops_the_rest(f):
    """You dropped the rows left over after an equal number for each device."""
    mapped = jax.pmap(jax.vmap(f))

    def every(rows):
        whole = rows[: len(rows) // jax.device_count() * jax.device_count()]
        out = mapped(whole.reshape(jax.device_count(), -1, rows.shape[1]))
        return out.reshape(-1, *out.shape[2:])

    return every


def mistake_keeps_the_padding(f):
    """You returned the results of the padding too."""
    mapped = jax.pmap(jax.vmap(f))

    def every(rows):
        out = mapped(fold(rows))
        return out.reshape(-1, *out.shape[2:])

    return every


def mistake_deals_the_rows(f):
    """You gave device d the rows d, d + 8, …, so the results are out of order."""
    mapped = jax.pmap(jax.vmap(f))

    def every(rows):
        hands = fold(rows).reshape(-1, jax.device_count(), rows.shape[1]).swapaxes(0, 1)
        out = mapped(hands)
        return out.reshape(-1, *out.shape[2:])[: len(rows)]

    return every


def mistake_leaves_vmap_out(f):
    """You left out `vmap`, so `f` got all rows of a shard instead of one row."""
    mapped = jax.pmap(f)

    def every(rows):
        return mapped(fold(rows)).reshape(-1)[: len(rows)]

    return every


def mistake_trusts_vmap(f):
    """You used `vmap` alone, which runs on one device."""
    return jax.vmap(f)
