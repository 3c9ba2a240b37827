"""Read each piece of an array once, however many copies of it there are.

Given a `jax.Array` of two axes on a mesh, split and copied in any way, return a list of
`(index, piece)`: `piece` is a NumPy array with what stands at `x[index]`.
"""

import jax
import numpy as np
from jax import P
from jax.sharding import NamedSharding


def solution(x):
    """Return the pieces: those shards that are copy 0 of theirs."""
    first = [shard for shard in x.addressable_shards if shard.replica_id == 0]
    return [(shard.index, np.asarray(shard.data)) for shard in first]


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x): float32 (8, 4) on a mesh, to a list of (tuple of slices, NumPy array).
    """
    mesh = jax.make_mesh((4, 2), ("rows", "inner"))
    whole = np.arange(32, dtype=np.float32).reshape(8, 4)
    specs = P(), P("rows"), P(None, "inner"), P("rows", "inner"), P(None, "rows")
    for spec in specs:
        x = jax.device_put(whole, NamedSharding(mesh, spec))
        found = make(x)
        assert isinstance(found, list), (
            f"the answer is a list of (index, piece); yours is a {type(found).__name__}"
        )
        read = sum(piece.nbytes for _, piece in found)
        assert read == whole.nbytes, (
            f"for {spec} you read {read} bytes of an array of {whole.nbytes}: "
            "is every piece there, and each only once?"
        )
        held = x.sharding.shard_shape(x.shape)
        assert all(piece.shape == held for _, piece in found), (
            f"for {spec} a device holds a piece of shape {held}; yours have other "
            "shapes, so something was gathered or cut"
        )
        again = np.full_like(whole, np.nan)
        for index, piece in found:
            again[index] = piece
        assert np.array_equal(again, whole), (
            f"for {spec} the pieces, put at their indices, are not the array"
        )


def mistake_reads_every_copy(x):
    """Take all shards for all pieces: a copy is a shard, too."""
    return [(shard.index, np.asarray(shard.data)) for shard in x.addressable_shards]


def mistake_reads_one_device(x):
    """Think of an array that is whole everywhere: here one device may hold a part."""
    shard = x.addressable_shards[0]
    return [(shard.index, np.asarray(shard.data))]


def mistake_gathers(x):
    """Let NumPy put it together: then one piece is as large as the array."""
    return [((slice(None), slice(None)), np.asarray(x))]


def mistake_skips_by_number(x):
    """Take the devices at the start: as many as pieces, whichever they hold."""
    count = x.nbytes // x.addressable_shards[0].data.nbytes
    shards = x.addressable_shards[:count]
    return [(shard.index, np.asarray(shard.data)) for shard in shards]
