"""Lower two products of sharded matrices: one without communication, one with a sum.

A device that has some rows of a and all of b finishes these rows of the product. On a
grid, a device that has some columns of a, and the rows of b that belong to them, has
some of the terms of every sum, and `psum` adds them along one axis of the grid.

Run it: `python -m examples.shard_map.from_one_device`
"""

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.tools.traffic import sends

ROWS = P("rows")
TILES = P("rows", "inner")  # of a, on a grid: some rows, and of these some columns
INNER = P("inner")  # of b, on a grid: the rows that belong to those columns


def rows_times(mesh):
    """Return a function from a, by ROWS, and b, replicated, to a @ b, by ROWS."""

    def body(a, b):
        return a @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(ROWS, P()), out_specs=ROWS)


def tiles_times(mesh):
    """Return a function from a, by TILES, and b, by INNER, to a @ b, by ROWS."""

    def body(a, b):
        return lax.psum(a @ b, "inner")

    return jax.shard_map(body, mesh=mesh, in_specs=(TILES, INNER), out_specs=ROWS)


def grid_of(mesh):
    """Return the devices of `mesh` as a grid, n/2 along "rows" and 2 along "inner"."""
    devices = mesh.devices.reshape(-1, 2)
    return Mesh(devices, ("rows", "inner"), axis_types=(AxisType.Explicit,) * 2)


def lower(mesh):
    """Lower `tiles_times` for a mesh of any size: 1024 rows in each row of its grid."""
    grid = grid_of(mesh)
    rows = 1024 * grid.shape["rows"]
    a = jax.ShapeDtypeStruct(
        (rows, 4096), jnp.float32, sharding=NamedSharding(grid, TILES)
    )
    b = jax.ShapeDtypeStruct(
        (4096, 1024), jnp.float32, sharding=NamedSharding(grid, INNER)
    )
    return jax.jit(tiles_times(grid)).lower(a, b)


def lower_rows(mesh):
    """Lower `rows_times` for a mesh of any size: 1024 rows of a on each device."""
    a = jax.ShapeDtypeStruct(
        (1024 * mesh.size, 4096), jnp.float32, sharding=NamedSharding(mesh, ROWS)
    )
    b = jax.ShapeDtypeStruct(
        (4096, 1024), jnp.float32, sharding=NamedSharding(mesh, P())
    )
    return jax.jit(rows_times(mesh)).lower(a, b)


def main(devices=None):
    """Print what both products communicate.

    >>> main()
    rows: nothing
    tiles: all-reduce in groups of 2, 4,194,304 bytes each
    """
    mesh = jax.make_mesh((8,), ("rows",), devices=(devices or jax.devices())[:8])
    for name, stage in ("rows", lower_rows(mesh)), ("tiles", lower(mesh)):
        each = [
            f"{one.kind} in groups of {len(one.groups[0])}, {one.moved:,} bytes each"
            for one in sends(stage)
        ]
        print(f"{name}: {'; '.join(each) or 'nothing'}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
