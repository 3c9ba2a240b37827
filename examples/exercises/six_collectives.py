"""Add up the rows of all devices on a ring, and say how much each device sends.

Write `ring_sum(row)`, the body of a `shard_map` over "data" on any number of devices:
from the row of one device, (1, k), to the sum of all rows, (1, k), the same numbers on
each, with `lax.ppermute` only.  And `rows_sent(n)`: how many rows does each of n
devices send?
"""

import re

import jax
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends

OTHERS = r"\b(psum\w*|pm(?:ax|in)\w*|all_gather\w*|\w*all_to_all|reduce_scatter\w*)\["


def solution(row):
    """Pass the rows on, n - 1 times, and add what comes in."""
    n = lax.axis_size("data")
    to_the_right = [(device, (device + 1) % n) for device in range(n)]
    total = row
    for _ in range(n - 1):
        row = lax.ppermute(row, "data", to_the_right)
        total = total + row
    return total


def rows_on_a_ring(n):
    """Return how many rows each of n devices sends: its own, and n - 2 of others."""
    return n - 1


def check(ring_sum, rows_sent=rows_on_a_ring):
    """Raise AssertionError, with what to look at, unless both functions are right.

    ring_sum(row): int32 (1, k), the row of one device, to the sum of all, (1, k).
    rows_sent(n): how many rows each of n devices sends.
    """

    def body(row):
        answer = ring_sum(row)
        assert isinstance(answer, jax.Array) and answer.shape == row.shape, (
            f"ring_sum returns an array of the shape of row, {row.shape}; "
            f"yours returns {_named(answer)}"
        )
        return answer

    counts = [n for n in (8, 3, 1) if n <= jax.device_count()]
    for n in counts:
        rows = 10 * np.arange(n)[:, None] + np.arange(4)  # device 2 has 20, 21, 22, 23
        mesh = jax.make_mesh((n,), ("data",), devices=jax.devices()[:n])
        mapped = jax.shard_map(body, in_specs=P("data"), out_specs=P("data"))
        with jax.set_mesh(mesh):
            x = jax.device_put(rows.astype(np.int32), P("data"))
            try:
                program = str(jax.make_jaxpr(mapped)(x))
                stage = jax.jit(mapped).lower(x)
                found = np.asarray(jax.jit(mapped)(x))
            except (ValueError, IndexError) as error:
                raise AssertionError(
                    f"on {n} devices, ring_sum raises {type(error).__name__}, see "
                    "above: does your list of pairs fit any number of devices? "
                    'lax.axis_size("data") says how many there are'
                ) from error
        others = sorted(set(re.findall(OTHERS, program)))
        assert not others, (
            f"ring_sum calls {', '.join(others)}, and lax.ppermute is to be enough"
        )
        right = np.tile(rows.sum(axis=0), (n, 1))
        wrong = np.flatnonzero((found != right).any(axis=1))
        assert wrong.size == 0, (
            f"on {n} devices, device {wrong[0]} should have {right[0]} and has "
            f"{found[wrong[0]]}: which rows has it added, and how often each?"
        )
        if n > 1:
            _count(rows_sent, n, stage, x.addressable_shards[0].data.nbytes)
    if counts == [1]:
        _count(rows_sent, 8, None, 1)
    print("The check passes.")


def _count(rows_sent, n, stage, row):
    """Raise AssertionError unless `rows_sent(n)` is n - 1, or what the program sends.

    stage: the lowered program of n devices, or None; row: how many bytes a row has.
    """
    said, known = rows_sent(n), {n - 1}
    if stage and jax.default_backend() == "cpu":  # there may be a better way
        moved = [(sent.moved, sent.times) for sent in sends(stage)]
        if all(times is not None for _, times in moved):
            known.add(sum(size * times for size, times in moved) / row)
    assert said is not None and said is not ..., (
        f"not written yet: rows_sent({n}), how often each of {n} devices sends its row"
    )
    assert any(np.isclose(float(said), one) for one in known), (
        f"rows_sent({n}) is {said}: how many rows come by at a device before it has "
        "seen all? A last turn that brings back its own is not needed"
    )


def _named(found):
    """Say what `found` is: of an array, its shape."""
    if isinstance(found, jax.Array | np.ndarray):
        return f"an array of shape {found.shape}"
    return f"something of type {type(found).__name__}"


def _ring(n):
    """Return pairs of n devices, each with its right neighbour."""
    return [(device, (device + 1) % n) for device in range(n)]


def mistake_passes_on_the_sum(row):
    """You passed on the sum and not the row, so some rows count several times."""
    n = lax.axis_size("data")
    for _ in range(n - 1):
        row = row + lax.ppermute(row, "data", _ring(n))
    return row


def mistake_adds_its_own_again(row):
    """You went one turn too far, in which your own row came back and was added."""
    n, total = lax.axis_size("data"), row
    for _ in range(n):
        row = lax.ppermute(row, "data", _ring(n))
        total = total + row
    return total


def mistake_leaves_the_ring_open(row):
    """You left out the pair from the last to the first, who then receives zeros."""
    n, total = lax.axis_size("data"), row
    for _ in range(n - 1):
        row = lax.ppermute(row, "data", _ring(n)[:-1])
        total = total + row
    return total


def mistake_counts_on_eight(row):
    """You wrote 8 where the number of devices stands, as on the page's own mesh."""
    total = row
    for _ in range(7):
        row = lax.ppermute(row, "data", _ring(8))
        total = total + row
    return total


def mistake_calls_psum(row):
    """You called `psum`, which does the whole sum, where passing on is asked for."""
    return lax.psum(row, "data")
