"""List the shards of an array that have to be saved, each number once.

Given an array that is sharded, replicated, or both, return a list of (index, data):
what to write to disk so that `whole[index] = data` for all of them restores the array.
No number is written twice, and none is gathered first: data is one device's shard.
"""

import jax
import numpy as np
from jax import P
from jax.sharding import NamedSharding

SPECS = P("data"), P(None, "model"), P("data", "model"), P(("data", "model")), P()


def solution(x):
    """Return the first copy of every shard."""
    shards = x.addressable_shards
    return [(s.index, np.asarray(s.data)) for s in shards if s.replica_id == 0]


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x): a jax.Array on a mesh to a list of (tuple of slices, NumPy array).
    """
    mesh = jax.make_mesh((2, 4), ("data", "model"))
    table = np.arange(32, dtype=np.float32).reshape(8, 4)
    for spec in SPECS:
        x = jax.device_put(table, NamedSharding(mesh, spec))
        with jax.set_mesh(mesh):
            found = make(x)
        assert isinstance(found, list), "a list of (index, data) is due"
        size = sum(np.size(data) for _, data in found)
        assert size == table.size, (
            f"{spec}: {table.size} numbers have to be saved; you save {size}"
        )
        whole = np.full(table.shape, np.nan, table.dtype)
        for index, data in found:
            assert np.shape(data) == x.sharding.shard_shape(x.shape), (
                f"{spec}: a device holds {x.sharding.shard_shape(x.shape)} of it; "
                f"your data has the shape {np.shape(data)}"
            )
            whole[index] = data
        assert np.array_equal(whole, table), f"{spec}: the data make up another array"
    print("The check passes.")


def mistake_saves_what_each_device_holds(x):
    """You saved the shards of all devices, so copies of a shard are saved too."""
    return [(shard.index, np.asarray(shard.data)) for shard in x.addressable_shards]


def mistake_saves_the_first_device(x):
    """You saved the first device's shard only, as if it were the whole array."""
    shard = x.addressable_shards[0]
    return [(shard.index, np.asarray(shard.data))]


def mistake_gathers_first(x):
    """You gathered the whole array, instead of saving one device's shard at a time."""
    return [((slice(None),) * x.ndim, np.asarray(x))]
