"""TODO: a verb sentence that says what the reader writes.

Given `x` `(n,)`, split over the mesh axis "rows", return how far each number is below
the highest of all, split as it came.
"""

import jax
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

ROWS = P("rows")


def solution(x, mesh):
    """Return the highest number of all less `x`, split as ROWS."""

    def subtract(x):
        return lax.pmax(x.max(), "rows") - x

    return jax.shard_map(subtract, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x, mesh): float32 `(16,)`, split as ROWS, to the same.
    """
    devices = (jax.devices() if jax.device_count() >= 8 else jax.devices("cpu"))[:8]
    mesh = jax.make_mesh((8,), ("rows",), devices=devices)
    whole = np.arange(16, dtype=np.float32) * 5 % 16
    found = make(jax.device_put(whole, NamedSharding(mesh, ROWS)), mesh)
    assert np.shape(found) == whole.shape, (
        f"sixteen numbers need sixteen answers; yours have shape {np.shape(found)}"
    )
    assert np.array_equal(found, whole.max() - whole), (
        "the answers differ from the reference: "
        "is each number compared with the highest of all pieces?"
    )


def mistake_stays_at_home(x, mesh):
    """Think that `max` in the body sees all numbers: it sees one piece."""

    def subtract(x):
        return x.max() - x

    return jax.shard_map(subtract, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)


def mistake_adds_the_pieces(x, mesh):
    """Take `psum` because it is the collective one knows."""

    def subtract(x):
        return lax.psum(x.max(), "rows") - x

    return jax.shard_map(subtract, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)
