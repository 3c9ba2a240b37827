"""Scatter a sum over all chips of a slice, and over groups of its chips.

Compilers of TPUs write an all-reduce for some sums over all chips of a slice. Over a
part of the chips, along one axis of a mesh of two, they keep the reduce-scatter.

Run it: `python -m examples.collectives.psum_scatter_groups`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends

CHIPS = "v3:4x4", "v4:4x4x4", "v5p:4x4x4", "v5e:16x16", "v6e:16x16", "tpu7x:4x4x4"
TOPOLOGIES = {  # that each way is compiled for
    "lower": ("v5p:2x2x4", "v5e:8x16", *CHIPS),
    "lower_groups": CHIPS,
}
BOTH = P(("outer", "inner"))


@partial(jax.jit, static_argnums=1)
def scattered(x, mesh):
    """Add over `inner`, and keep one part of the sum on each device."""
    return jax.shard_map(
        lambda x: lax.psum_scatter(x, "inner", tiled=True),
        mesh=mesh,
        in_specs=BOTH,
        out_specs=BOTH,
    )(x)


def lowered(mesh, groups, rows=1024):
    """Lower `scattered` for a number of groups, with so many rows on each device."""
    shape = groups, mesh.size // groups
    grid = jax.make_mesh(shape, ("outer", "inner"), devices=[*mesh.devices.flat])
    sharding = jax.NamedSharding(grid, BOTH)
    x = jax.ShapeDtypeStruct((mesh.size * rows, 1024), jnp.float32, sharding=sharding)
    return scattered.lower(x, grid)


def lower(mesh):
    """Lower the sum over all devices, with 4 MiB on each."""
    return lowered(mesh, 1)


def lower_groups(mesh):
    """Lower sums over groups: 16 of them among 256 devices, else four."""
    return lowered(mesh, 16 if mesh.size == 256 else 4)


def main():
    """Compare the sums with NumPy's, and print what a device sends.

    >>> main()
    in 2 groups of 4: True, 3 of 4 parts sent
    """
    numbers = np.arange(8 * 16, dtype=np.float32).reshape(32, 4)
    mesh = jax.make_mesh((2, 4), ("outer", "inner"))
    x = jax.device_put(numbers, jax.NamedSharding(mesh, BOTH))
    held = np.asarray(scattered(x, mesh))
    [sent] = sends(scattered.lower(x, mesh))
    right = np.array_equal(held, numbers.reshape(2, 4, 4, 4).sum(1).reshape(8, 4))
    parts = 4 * sent.moved // sent.operand
    print(f"in 2 groups of 4: {right}, {parts} of 4 parts sent")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
