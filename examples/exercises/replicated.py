"""Find out whether the copies of an array agree.

Given a `jax.Array` on a mesh, sharded and replicated in any way, return True if all
copies of each of its shards hold the same numbers, and False otherwise.
"""

import jax
import numpy as np
from jax import P
from jax.sharding import NamedSharding

SPECS = P(), P("data"), P(None, "model"), P("data", "model"), P(None, "data")


def solution(x):
    """Compare each shard with the first copy of the same part of the array."""
    first = {str(s.index): s.data for s in x.addressable_shards if s.replica_id == 0}
    return all(
        np.array_equal(s.data, first[str(s.index)]) for s in x.addressable_shards
    )


def spoiled(x, device):
    """Return `x` with 1 added to what `device` holds, and to no other copy."""
    held = [
        jax.device_put(np.asarray(shard.data) + (shard.device == device), shard.device)
        for shard in x.addressable_shards
    ]
    return jax.make_array_from_single_device_arrays(x.shape, x.sharding, held)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x): float32 (8, 4) on a mesh, to True or False.
    """
    mesh = jax.make_mesh((4, 2), ("data", "model"))
    whole = np.arange(32, dtype=np.float32).reshape(8, 4)
    for spec in SPECS:
        x = jax.device_put(whole, NamedSharding(mesh, spec))
        with jax.set_mesh(mesh):
            found = make(x)
        assert isinstance(found, bool | np.bool_), (
            f"True or False is due, not an object of type {type(found).__name__}"
        )
        assert found, f"under {spec} all copies agree; you say that they do not"
        copies = {shard.replica_id for shard in x.addressable_shards}
        for device in mesh.devices.flat if len(copies) > 1 else ():
            with jax.set_mesh(mesh):
                said = make(spoiled(x, device))
            assert not said, (
                f"under {spec}, device {device.id} holds other numbers than its "
                "copies; you say that all agree"
            )
    print("The check passes.")


def mistake_asks_the_sharding(x):
    """You asked the sharding, which says nothing about the numbers."""
    return x.is_fully_replicated or not x.is_fully_replicated


def mistake_compares_with_numpy(x):
    """You compared with `np.asarray(x)`, which reads only the first copies."""
    return bool(np.array_equal(np.asarray(x), np.asarray(x)))


def mistake_compares_all_shards(x):
    """You took every shard for a copy of the first, which is so only under `P()`."""
    first, *others = [np.asarray(shard.data) for shard in x.addressable_shards]
    return all(np.array_equal(other, first) for other in others)


def mistake_compares_neighbors(x):
    """You compared the first device with the last, and no others."""
    shards = x.addressable_shards
    return shards[0].index != shards[-1].index or bool(
        np.array_equal(shards[0].data, shards[-1].data)
    )
