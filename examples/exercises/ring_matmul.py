"""Multiply around a ring where the inner axis of b is split: no gather, no waiting.

A device holds its rows of `a`, `(m/n, k)`, and its rows of `b`, `(k/n, p)`, over the
mesh axis "rows"; it returns its rows of `a @ b`, `(m/n, p)`. The blocks of `b` travel,
each device sends n - 1 of them, and no send waits for a product.
"""

import jax
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.patterns.ring_matmul import hop, waits
from examples.tools.traffic import sends

ROWS = P("rows", None)


def solution(a, b):
    """Each shard of b is multiplied by its columns of a, for this device's rows.

    a: (m/n, k), b: (k/n, p), inside of `shard_map`.
    """
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    total = columns(a, me) @ b
    for step in range(1, n):
        b = hop(b, -1)
        total += columns(a, me + step) @ b
    return total


def columns(a, k):
    """Return the columns of a that belong to the shard of b of device k."""
    n = lax.axis_size("rows")
    size = a.shape[1] // n
    return lax.dynamic_slice_in_dim(a, k % n * size, size, axis=1)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(a, b): what one device does, float32 (m/n, k) and (k/n, p) to (m/n, p).
    """
    for n, m, k, p in [(8, 16, 24, 4), (3, 6, 3, 5)]:

        def body(a, b, wanted=(m // n, p)):
            found = make(a, b)
            assert np.shape(found) == wanted, (
                f"with {a.shape} and {b.shape} a device has to return {wanted}; "
                f"yours returns {np.shape(found)}"
            )
            return found

        mesh = jax.make_mesh((n,), ("rows",))
        split = NamedSharding(mesh, ROWS)
        whole = numbers(m, k), numbers(k, p)
        a, b = jax.device_put(whole, (split, split))
        with jax.set_mesh(mesh):
            multiply = jax.jit(
                jax.shard_map(body, in_specs=(ROWS, ROWS), out_specs=ROWS)
            )
            product = multiply(a, b)
            found = sends(multiply.lower(a, b))
            waited = waits(multiply, a, b)["sends wait"]
        assert np.array_equal(product, whole[0] @ whole[1]), (
            f"on {n} devices the numbers of {(m, k)} @ {(k, p)} differ from NumPy's: "
            "does the block of b that is here meet its own columns of a?"
        )
        kinds = {sent.kind for sent in found}
        assert kinds == {"collective-permute"}, (
            f"the blocks have to go around by ppermute; yours are sent by {kinds}"
        )
        hops = sum(sent.times for sent in found)
        assert hops == n - 1, (
            f"on {n} devices {n - 1} hops bring every block by; yours makes {hops}"
        )
        assert not any(waited), (
            "a send of yours waits for a product: send the block as it came"
        )
    print("The check passes.")


def numbers(n, k):
    """Return whole numbers, float32 (n, k)."""
    return np.arange(n * k, dtype=np.float32).reshape(n, k) % 5


def mistake_gathers(a, b):
    """You gathered all of `b` first, so no product can overlap with a send."""
    return a @ lax.all_gather(b, "rows", tiled=True)


def mistake_keeps_its_columns(a, b):
    """You multiplied every shard of `b` by the same columns of `a`."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    total = columns(a, me) @ b
    for _ in range(1, n):
        b = hop(b, -1)
        total += columns(a, me) @ b
    return total


def mistake_counts_the_other_way(a, b):
    """You took the columns of `me - step`, but the shard is of device `me + step`."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    total = columns(a, me) @ b
    for step in range(1, n):
        b = hop(b, -1)
        total += columns(a, me - step) @ b
    return total


def mistake_sends_once_more(a, b):
    """You sent `b` after the last product too, when no device needs it."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    total = 0
    for step in range(n):
        total += columns(a, me + step) @ b
        b = hop(b, -1)
    return total + 0 * b[:1, :1]


def mistake_waits_for_the_product(a, b):
    """You made each send wait for a product, by an `optimization_barrier`."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    total = columns(a, me) @ b
    for step in range(1, n):
        b, total = lax.optimization_barrier((b, total))
        b = hop(b, -1)
        total += columns(a, me + step) @ b
    return total
