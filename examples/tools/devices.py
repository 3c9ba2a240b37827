"""Print which devices there are, and which of them holds what of an array.

Use it: `what_is_here()` and `who_holds_what(x)`.
"""

import jax
import numpy as np


def what_is_here():
    """Print a line for each kind of device that JAX uses by default here."""
    kinds = [f"{d.device_kind}, {d.platform}" for d in jax.devices()]
    for kind in dict.fromkeys(kinds):
        print(f"{kinds.count(kind)} x {kind}")


def who_holds_what(x):
    """Print a line for each device: its place, its shard of `x`, its copy, its bytes.

    x: a jax.Array with a NamedSharding, on at least one device of this process.
    """
    mesh = x.sharding.mesh
    places = {mesh.devices[at]: at for at in np.ndindex(mesh.devices.shape)}
    for shard in x.addressable_shards:
        at = zip(mesh.axis_names, places[shard.device], strict=True)
        where = ", ".join(f"{name} {k}" for name, k in at)
        axes = zip(shard.index, x.shape, strict=True)
        part = ", ".join("{}:{}".format(*s.indices(n)) for s, n in axes)
        print(f"{where}: x[{part}], copy {shard.replica_id}, {shard.data.nbytes} B")
