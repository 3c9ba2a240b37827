"""Each process loads its own rows of every batch, and JAX sees one global batch.

Run it: `python feed.py`, or `python launch.py 2 feed.py --join`

>>> mesh = Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,))
>>> [batch.shape for batch in batches(0, jax.NamedSharding(mesh, P("data")))][:2]
[(32, 784), (32, 784)]
"""

import sys

import jax
import numpy as np
from jax import P
from jax.sharding import AxisType, Mesh

IMAGES, BATCH = 256, 32


def load(rows):
    """Read some images, float32[rows,784]: from files, in a program of your own."""
    return np.stack([np.full(784, row, np.float32) for row in rows])


def batches(epoch, sharding):
    """Yield the global batches of an epoch, float32[32@data,784], in a new order."""
    order = np.random.default_rng(epoch).permutation(IMAGES)  # alike in all processes
    mine, left = divmod(BATCH, jax.process_count())
    assert not left, "every process has equally many rows"
    first = jax.process_index() * mine
    for start in range(0, IMAGES - BATCH + 1, BATCH):  # whole batches only
        rows = order[start + first : start + first + mine]
        yield jax.make_array_from_process_local_data(sharding, load(rows))


def main():
    """Print what the first process sees of each batch."""
    if "--join" in sys.argv:
        jax.distributed.initialize()
    mesh = Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,))
    sharding = jax.NamedSharding(mesh, P("data"))
    mean = jax.jit(lambda batch: batch.mean())
    for number, batch in enumerate(batches(0, sharding)):
        average = mean(batch)
        here = sum(len(shard.data) for shard in batch.addressable_shards)
        if jax.process_index() == 0:
            print(f"batch {number}: {len(batch)} rows, {here} here, mean {average:.3f}")


if __name__ == "__main__":
    main()
