"""Multiply in case 4, and send the smaller matrix, whichever it is.

Given `a` `(m, k)`, split by rows, and `b` `(k, p)`, split by columns, over the mesh
axis "model", return `a @ b`, split by rows or by columns. A device sends no more than
it takes to gather the smaller of the two.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.tools.traffic import sends

ROWS, COLUMNS = P("model", None), P(None, "model")


def solution(a, b, mesh):
    """Return `a @ b`, split as the larger matrix is, which stays where it is."""
    split = ROWS if a.size > b.size else COLUMNS
    return jnp.matmul(a, b, out_sharding=NamedSharding(mesh, split))


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(a, b, mesh): float32 (m, k) split by rows and (k, p) split by columns, over
    the axis "model", to (m, p), split by rows or by columns.
    """
    for count, m, k, p in [(8, 32, 4, 16), (8, 32, 64, 16), (2, 2, 16, 12)]:
        mesh = jax.make_mesh((count,), ("model",))
        whole_a, whole_b = numbers(m, k), numbers(k, p)
        a = jax.device_put(whole_a, NamedSharding(mesh, ROWS))
        b = jax.device_put(whole_b, NamedSharding(mesh, COLUMNS))
        found = make(a, b, mesh)
        assert np.shape(found) == (m, p), (
            f"{(m, k)} @ {(k, p)} has to come back as {(m, p)}; "
            f"yours has shape {np.shape(found)}"
        )
        assert np.array_equal(found, whole_a @ whole_b), (
            f"on {count} devices the numbers of {(m, k)} @ {(k, p)} differ from NumPy's"
        )
        held = {shard.data.shape for shard in found.addressable_shards}
        assert held in ({(m // count, p)}, {(m, p // count)}), (
            f"every device has to keep its rows or its columns of {(m, p)}; "
            f"yours hold pieces of shape {held}"
        )
        program = jax.jit(make, static_argnums=2).lower(a, b, mesh)
        moved = sum(sent.moved for sent in sends(program))
        least = min(whole_a.nbytes, whole_b.nbytes) * (count - 1) // count
        assert moved <= least, (
            f"for {(m, k)} @ {(k, p)} a device of {count} need send {least} bytes; "
            f"yours sends {moved}: which of the two is the smaller?"
        )


def numbers(n, k):
    """Return whole numbers, float32 (n, k)."""
    return np.arange(n * k, dtype=np.float32).reshape(n, k) % 5


def mistake_always_gathers_b(a, b, mesh):
    """Think of b as the weights, and of weights as what is gathered."""

    def body(a, b):
        return a @ lax.all_gather(b, "model", axis=1, tiled=True)

    specs = {"in_specs": (ROWS, COLUMNS), "out_specs": ROWS}
    return jax.shard_map(body, mesh=mesh, **specs)(a, b)


def mistake_compares_rows(a, b, mesh):
    """Compare the lengths of a and b: the rows, without the columns."""
    split = ROWS if len(a) > len(b) else COLUMNS
    return jnp.matmul(a, b, out_sharding=NamedSharding(mesh, split))


def mistake_follows_the_smaller(a, b, mesh):
    """Take `out_sharding` for what is gathered: it is what stays where it is."""
    split = ROWS if a.size < b.size else COLUMNS
    return jnp.matmul(a, b, out_sharding=NamedSharding(mesh, split))


def mistake_asks_for_all_of_it(a, b, mesh):
    """Ask for the product everywhere, so as to have no case to tell apart."""
    return jnp.matmul(a, b, out_sharding=NamedSharding(mesh, P(None, None)))
