"""Lower sums of which each device keeps a part, and say in NumPy what they are.

`reference` is `lax.psum_scatter` on a list with the shard of each device;
`in_two_steps` is a `psum` made of it and an `all_gather`.

Run it: `python -m examples.collectives.psum_scatter`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.collectives.blocks import blocks_of
from examples.tools.traffic import sends


def reference(blocks, scatter_dimension=0, tiled=False):
    """Return what each device gets: its part of the sum, an entry or more."""
    parts = np.split(sum(blocks), len(blocks), axis=scatter_dimension)
    return parts if tiled else [np.squeeze(p, scatter_dimension) for p in parts]


def scattered(x, mesh, scatter_dimension=0, tiled=False):
    """Return the sum of all shards of `x`, sharded over "rows"."""

    def body(block):
        options = {"scatter_dimension": scatter_dimension, "tiled": tiled}
        return lax.psum_scatter(block, "rows", **options)

    rows = P("rows")
    return jax.shard_map(body, mesh=mesh, in_specs=rows, out_specs=rows)(x)


def in_two_steps(x, mesh):
    """Return the sum of all shards, replicated, by two collectives."""

    def body(block):
        part = lax.psum_scatter(block, "rows", tiled=True)
        return lax.all_gather(part, "rows", tiled=True, to="invarying")

    specs = {"in_specs": P("rows"), "out_specs": P()}
    return jax.shard_map(body, mesh=mesh, **specs)(x)


def along_inner(x, grid):
    """Return the sums over "inner", sharded over it, for each place along "rows"."""

    def body(block):
        return lax.psum_scatter(block, "inner", tiled=True)

    both = P(("rows", "inner"))
    return jax.shard_map(body, mesh=grid, in_specs=both, out_specs=both)(x)


def ring_bytes(operand, n):
    """Return the bytes that each of `n` devices sends to add shards of `operand`."""
    return (n - 1) * operand // n


def blocks_to_add(mesh):
    """Describe 4 MiB or more on each device, with eight rows for every device."""
    n = mesh.size
    shape = (n * 8 * n, 128 * max(1, 1024 // n))
    rows = NamedSharding(mesh, P(mesh.axis_names))
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=rows)


def lower(mesh):
    """Lower `scattered`, tiled, for a mesh of any size: 4 MiB on each device."""
    x = blocks_to_add(mesh)
    return jax.jit(scattered, static_argnums=(1, 2, 3)).lower(x, mesh, 0, True)


def lower_two_steps(mesh):
    """Lower `in_two_steps` for a mesh of any size, with 4 MiB on each device."""
    return jax.jit(in_two_steps, static_argnums=1).lower(blocks_to_add(mesh), mesh)


def lower_along_inner(mesh):
    """Lower the sums over pairs of devices, tiled, with 4 MiB on each device."""
    axes = ("rows", "inner")
    grid = Mesh(mesh.devices.reshape(-1, 2), axes, axis_types=(AxisType.Explicit,) * 2)
    return jax.jit(along_inner, static_argnums=1).lower(blocks_to_add(grid), grid)


def main():
    """Compare each call with its list, and print what one device sends.

    >>> main()
    scatter_dimension=0, tiled=False: (8, 16) gives (16,) True
    scatter_dimension=1, tiled=True: (8, 16) gives (8, 2) True
    scatter_dimension=0, tiled=True: (8, 16) gives (1, 16) True
    4 MiB on each of 8 devices: 3.5 MiB sent
    """
    mesh = jax.make_mesh((8,), ("rows",))
    numbers = np.arange(1024, dtype=np.float32).reshape(64, 16)
    x = jax.device_put(numbers, NamedSharding(mesh, P("rows")))
    blocks = blocks_of(x)
    for scatter_dimension, tiled in (0, False), (1, True), (0, True):
        held = blocks_of(scattered(x, mesh, scatter_dimension, tiled))
        right = np.array_equal(held, reference(blocks, scatter_dimension, tiled))
        shapes = f"{blocks[0].shape} gives {held[0].shape}"
        print(f"{scatter_dimension=}, {tiled=}: {shapes} {right}")
    [sent] = sends(lower(mesh))
    size, moved = sent.operand / 2**20, sent.moved / 2**20
    print(f"{size:g} MiB on each of 8 devices: {moved:g} MiB sent")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
