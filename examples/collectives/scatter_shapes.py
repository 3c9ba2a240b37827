"""Lower `lax.psum_scatter` of arrays whose shapes decide what compilers make of it.

Compilers for TPUs lay out two-dimensional arrays in tiles of eight rows. A part of the
sum that is no such tile, or of an array with one dimension, may cost an all-reduce.
`flat` adds a flat buffer, and `as_rows` the same buffer, as rows of 128 numbers.

Run it: `python -m examples.collectives.scatter_shapes`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import NamedSharding, P, lax
from jax.sharding import AxisType, Mesh

FLAT = (2**20,)  # 4 MiB of float32 on each device


def flat(block):
    """Return a device's part of the sum of blocks over "inner", by the first axis."""
    return lax.psum_scatter(block, "inner", tiled=True)


def as_rows(block):
    """Return what `flat` returns of a flat block, added as rows of 128 numbers."""
    return flat(block.reshape(-1, 128)).reshape(-1)


def scattered(body, mesh):
    """Map a body over blocks, one on each device of `mesh`."""
    both = P(("outer", "inner"))
    return jax.shard_map(body, mesh=mesh, in_specs=both, out_specs=both)


def lowered(body, mesh, inner, shape=FLAT):
    """Lower a body for groups of `inner` devices, with blocks of one shape."""
    grid = Mesh(
        mesh.devices.reshape(-1, inner),
        ("outer", "inner"),
        axis_types=(AxisType.Explicit,) * 2,
    )
    place = NamedSharding(grid, P(("outer", "inner")))
    shape = (shape[0] * mesh.size, *shape[1:])
    x = jax.ShapeDtypeStruct(shape, jnp.float32, sharding=place)
    return jax.jit(scattered(body, grid)).lower(x)


def lower(mesh):
    """Lower the sum of flat buffers over all devices."""
    return lowered(flat, mesh, mesh.size)


def lower_in_pairs(mesh):
    """Lower the sum of flat buffers over pairs of devices."""
    return lowered(flat, mesh, 2)


def lower_as_rows(mesh):
    """Lower the sum of the same buffers in pairs, as rows of 128 numbers."""
    return lowered(as_rows, mesh, 2)


def lower_four_rows(mesh):
    """Lower sums in pairs of which each device keeps four rows of 8,192 numbers."""
    return lowered(flat, mesh, 2, (8, 8192))


def lower_eight_rows(mesh):
    """Lower sums in pairs of which each device keeps eight rows of 8,192 numbers."""
    return lowered(flat, mesh, 2, (16, 8192))


def main():
    """Compare both bodies with NumPy.

    >>> main()
    flat: True
    as_rows: True
    """
    n = jax.device_count()
    numbers = np.arange(n * n * 1024, dtype=np.float32) % 7
    expected = numbers.reshape(n, -1).sum(axis=0)
    mesh = jax.make_mesh((1, n), ("outer", "inner"))
    x = jax.device_put(numbers, NamedSharding(mesh, P(("outer", "inner"))))
    for body in flat, as_rows:
        found = jax.jit(scattered(body, mesh))(x)
        print(f"{body.__name__}: {np.array_equal(found, expected)}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
