"""Processes with unequal numbers of rows take the same number of steps.

Run it: `python launch.py 2 feed_uneven.py --join`
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh

ROWS = 40, 23, 6, 31  # that each process has
MINE = 8  # of a batch from each process


@jax.jit
def total(rows, mask):
    """Sum the rows that count; rows: float32[n@data,4], mask: bool[n@data]."""
    return jnp.sum(rows, where=mask[:, None])


def main():
    """Sum all rows of all processes."""
    if "--join" in sys.argv:
        jax.distributed.initialize()
    jax.set_mesh(Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,)))
    sharding = jax.NamedSharding(jax.sharding.get_mesh(), P("data"))
    rows = np.ones((ROWS[jax.process_index()], 4), np.float32)
    most = int(multihost_utils.process_allgather(np.int32(len(rows))).max())
    result = 0.0
    for start in range(0, most, MINE):  # the same steps in all processes
        part = rows[start : start + MINE]
        padded = np.zeros((MINE, 4), np.float32)
        padded[: len(part)] = part
        counts = np.arange(MINE) < len(part)
        batch = jax.make_array_from_process_local_data(sharding, padded)
        mask = jax.make_array_from_process_local_data(sharding, counts)
        result += total(batch, mask)
    print(f"{len(rows)} rows here, {-(-most // MINE)} steps, sum {result:g}")


if __name__ == "__main__":
    main()
