"""List the pieces of an array that have to be saved, each number once.

Given an array that is cut, copied, or both, return a list of (index, piece): what to
write to disk so that `whole[index] = piece` for all of them makes up the array. No
number is written twice, and none is gathered first: a piece is what one device holds.
"""

import jax
import numpy as np
from jax import P
from jax.sharding import NamedSharding

SPECS = P("rows"), P(None, "inner"), P("rows", "inner"), P(("rows", "inner")), P()


def solution(x):
    """Return the first copy of every piece."""
    shards = x.addressable_shards
    return [(s.index, np.asarray(s.data)) for s in shards if s.replica_id == 0]


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x): a jax.Array on a mesh to a list of (tuple of slices, NumPy array).
    """
    mesh = jax.make_mesh((2, 4), ("rows", "inner"))
    table = np.arange(32, dtype=np.float32).reshape(8, 4)
    for spec in SPECS:
        x = jax.device_put(table, NamedSharding(mesh, spec))
        found = make(x)
        assert isinstance(found, list), "a list of (index, piece) is due"
        size = sum(np.size(piece) for _, piece in found)
        assert size == table.size, (
            f"{spec}: {table.size} numbers have to be saved; you save {size}"
        )
        whole = np.full(table.shape, np.nan, table.dtype)
        for index, piece in found:
            assert np.shape(piece) == x.sharding.shard_shape(x.shape), (
                f"{spec}: a device holds {x.sharding.shard_shape(x.shape)} of it; "
                f"your piece has the shape {np.shape(piece)}"
            )
            whole[index] = piece
        assert np.array_equal(whole, table), f"{spec}: the pieces make up another array"


def mistake_saves_what_each_device_holds(x):
    """Take it that eight devices hold eight different pieces."""
    return [(shard.index, np.asarray(shard.data)) for shard in x.addressable_shards]


def mistake_saves_the_first_device(x):
    """Take it that one device holds everything, as with `P()`."""
    shard = x.addressable_shards[0]
    return [(shard.index, np.asarray(shard.data))]


def mistake_gathers_first(x):
    """Ask for the whole array, which then has to fit in one memory."""
    return [((slice(None),) * x.ndim, np.asarray(x))]
