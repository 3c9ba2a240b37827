"""Read an array whose shards lie in several processes.

Run it: `python launch.py 2 spanning.py`
"""

import jax
import numpy as np
from jax import P
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh


def main():
    """Print what this process can read, and fetch what it cannot."""
    jax.distributed.initialize()
    jax.set_mesh(Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,)))
    losses = jax.device_put(np.arange(8, dtype=np.float32), P("data"))

    print("own shards:", [shard.data.tolist() for shard in losses.addressable_shards])
    print("mean, the same everywhere:", losses.mean())
    own = np.zeros(3)
    stacked = multihost_utils.process_allgather(own)
    tiled = multihost_utils.process_allgather(own, tiled=True)
    print("gathered, of (3,) in each process:", stacked.shape, "or", tiled.shape)
    print("all of it:", multihost_utils.process_allgather(losses, tiled=True))
    try:
        print(np.asarray(losses))
    except RuntimeError as error:
        print("RuntimeError:", error)


if __name__ == "__main__":
    main()
