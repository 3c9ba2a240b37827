"""Mask ring attention so that a query sees itself and the positions shortly before it.

Write the mask of sliding-window attention for one step of the ring, called in the body
of a `shard_map` over "sequence": in step `i`, a device holds the keys of the device `i`
places before it on the ring. Return bool (length, length), queries by keys: True where
the key is at the position of the query, or at one of the `window - 1` before it.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def solution(i, length, window):
    """Compare positions in the whole sequence."""
    n, me = lax.axis_size("sequence"), lax.axis_index("sequence")
    position = jnp.arange(length)
    query, key = me * length + position, (me - i) % n * length + position
    distance = query[:, None] - key
    return (distance >= 0) & (distance < window)


def check(visible):
    """Raise AssertionError, with what to look at, unless `visible` is right.

    visible(i, length, window): traced int32 () and two ints, to bool (length, length).
    """
    for n, length, window in (8, 4, 4), (8, 4, 10), (4, 6, 6), (8, 4, 1):
        found = _masks(visible, n, length, window)
        distance = np.subtract.outer(np.arange(n * length), np.arange(n * length))
        expected = (distance >= 0) & (distance < window)
        for i in range(n):
            for d in range(n):
                source = (d - i) % n
                keys = slice(source * length, (source + 1) * length)
                queries = slice(d * length, (d + 1) * length)
                _compare(
                    found[i, queries], expected[queries, keys], i, d, source, window
                )
    print("The check passes.")


def _compare(found, expected, i, d, source, window):
    """Say which query sees a wrong key, where one does."""
    length = len(expected)
    for row in np.flatnonzero((found != expected).any(axis=1))[:1]:
        seen, right = (
            (np.flatnonzero(mask[row]) + source * length).tolist()
            for mask in (found, expected)
        )
        raise AssertionError(
            f"in step {i}, device {d} holds the keys {source * length} to "
            f"{source * length + length - 1}; with a window of {window}, its query "
            f"{d * length + row} should see {right or 'none'} of them, and sees "
            f"{seen or 'none'}"
        )


def _masks(visible, n, length, window):
    """Return the masks of all steps on n devices, (steps, positions, length)."""

    def step(i):
        mask = visible(i, length, window)
        assert isinstance(mask, jax.Array) and mask.dtype == bool, (
            f"a mask is an array of bool; yours: {getattr(mask, 'dtype', mask)!r}"
        )
        assert mask.shape == (length, length), (
            f"{length} queries by {length} keys; the shape of yours is {mask.shape}"
        )
        return mask

    @jax.jit
    @jax.shard_map(in_specs=P(), out_specs=P(None, "sequence"))
    def around(steps):
        return lax.map(step, steps)

    with jax.set_mesh(jax.make_mesh((n,), ("sequence",))):
        try:
            return np.asarray(around(jnp.arange(n)))
        except jax.errors.TracerBoolConversionError:
            raise AssertionError(
                "Python cannot ask in which step it is, or on which device: the mask "
                "is one expression for all"
            ) from None


def mistake_compares_places_in_the_shard(i, length, window):
    """You compared positions within the shard, not within the whole sequence."""
    position = jnp.arange(length)
    distance = position[:, None] - position
    return (distance >= 0) & (distance < window)


def mistake_forgets_that_the_ring_closes(i, length, window):
    """You left out `% n`, so keys from around the ring got negative positions."""
    me, position = lax.axis_index("sequence"), jnp.arange(length)
    query, key = me * length + position, (me - i) * length + position
    distance = query[:, None] - key
    return (distance >= 0) & (distance < window)


def mistake_looks_the_other_way(i, length, window):
    """You took the keys for those of device `me + i`, but they are of `me - i`."""
    n, me = lax.axis_size("sequence"), lax.axis_index("sequence")
    position = jnp.arange(length)
    query, key = me * length + position, (me + i) % n * length + position
    distance = query[:, None] - key
    return (distance >= 0) & (distance < window)


def mistake_counts_one_more(i, length, window):
    """You wrote `distance <= window`, so a query sees one position too many."""
    n, me = lax.axis_size("sequence"), lax.axis_index("sequence")
    position = jnp.arange(length)
    query, key = me * length + position, (me - i) % n * length + position
    distance = query[:, None] - key
    return (distance >= 0) & (distance <= window)


def mistake_sees_the_future(i, length, window):
    """You used the absolute distance, so a query sees positions after its own."""
    n, me = lax.axis_size("sequence"), lax.axis_index("sequence")
    position = jnp.arange(length)
    query, key = me * length + position, (me - i) % n * length + position
    return jnp.abs(query[:, None] - key) < window
