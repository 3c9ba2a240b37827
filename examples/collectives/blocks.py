"""Read a sharded array as a list of blocks, so that a collective is a line of Python.

Why it is hard: a collective is written for one device, and its meaning needs all.
What finishes it: take each device's block as a NumPy array, in the order of the mesh.
A collective is then a function from a list to a list; on a part of the devices it is
the same function on a part of the list.

Run it: `python -m examples.collectives.blocks`
"""

import jax
import numpy as np
from jax import P
from jax.sharding import NamedSharding


def blocks_of(x):
    """Return what each device holds of `x`: a list of NumPy arrays, as the mesh goes.

    `x` is a `jax.Array` with a `NamedSharding` on devices of this process.
    """
    held = {shard.device: np.asarray(shard.data) for shard in x.addressable_shards}
    return [held[device] for device in x.sharding.mesh.devices.flat]


def in_groups(reference, blocks, groups, **options):
    """Return what each device holds when every group of positions talks on its own.

    `groups` holds each position of `blocks` once; the order inside a group counts.
    """
    after = {}
    for group in groups:
        inside = reference([blocks[n] for n in group], **options)
        after.update(zip(group, inside, strict=True))
    return [after[n] for n in range(len(blocks))]


def main():
    """Show what eight devices hold, and turn the list around in pairs of devices.

    >>> main()
    [0, 1, 2, 3, 4, 5, 6, 7]
    [1, 0, 3, 2, 5, 4, 7, 6]
    """
    mesh = jax.make_mesh((8,), ("rows",))
    x = jax.device_put(np.arange(8), NamedSharding(mesh, P("rows")))
    blocks = blocks_of(x)
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7)]
    turned = in_groups(lambda pair: pair[::-1], blocks, pairs)
    print([int(block[0]) for block in blocks])
    print([int(block[0]) for block in turned])


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
