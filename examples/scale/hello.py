"""Join the other processes, and add up an array that lies on the devices of all.

Run it: `sh two.sh`, or `python launch.py 2 hello.py`
"""

import sys

import jax
import numpy as np
from jax import P
from jax.sharding import AxisType, Mesh


def main():
    """Say which process this is, and what it has of the mesh and of the array."""
    if sys.argv[1:]:  # two.sh says how many processes, and which one this is
        count, number = map(int, sys.argv[1:])
        jax.distributed.initialize(num_processes=count, process_id=number)
    else:
        jax.distributed.initialize()  # on a cluster, JAX finds these itself
    mesh = Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,))
    jax.set_mesh(mesh)
    numbers = np.arange(jax.device_count(), dtype=np.float32)
    x = jax.device_put(numbers, P("data"))  # a number on each device
    total = float(x.sum())  # over all devices, so all processes must ask for it

    print("process", jax.process_index(), "of", jax.process_count())
    print("own devices:", [device.id for device in jax.local_devices()])
    print("own shards:", [shard.data.item() for shard in x.addressable_shards])
    print("sum over all devices:", total)
    if jax.process_index() == 0:
        owners = [device.process_index for device in mesh.devices.flat]
        print("the mesh has devices of the processes", owners)


if __name__ == "__main__":
    main()
