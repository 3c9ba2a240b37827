"""Put devices on a grid whose axes have names, and add up along one of them.

Why it is hard: a program says "rows" where it means devices, and which ones those are
is settled elsewhere, by the shape of the grid and the order of the devices in it.
What finishes it: a mesh is a NumPy array of devices, so its lines can be read off it; a
sum over an axis by its name is NumPy's sum over that axis of the grid.

Run it: `python -m examples.mesh.grid_with_names`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding


def reference(numbers, mesh, name):
    """Return the sums along the axis `name`, by NumPy; that axis is left with length 1.

    numbers: an array of the mesh's shape, one number for each device.
    """
    return np.asarray(numbers).sum(mesh.axis_names.index(name), keepdims=True)


def by_hand(devices, sizes, names):
    """Return a mesh that takes `devices` as they come, the last axis fastest.

    Raises ValueError where `sizes` do not multiply to the number of devices.
    """
    grid = np.array(devices).reshape(sizes)
    return Mesh(grid, names, axis_types=(AxisType.Explicit,) * len(names))


def lines(mesh, name):
    """Return the devices that differ only in their place along the axis `name`.

    One line for each place on the other axes: (lines, length of the axis).
    """
    axis = mesh.axis_names.index(name)
    return np.moveaxis(mesh.devices, axis, -1).reshape(-1, mesh.shape[name])


def totals(x, mesh, name):
    """Return the sums of the devices' blocks of `x` along the axis `name`.

    x: as many axes as the mesh, each cut along one of the mesh's axes, in their order.
    """
    kept = [None if axis == name else axis for axis in mesh.axis_names]
    add = partial(lax.psum, axis_name=name)
    specs = {"in_specs": P(*mesh.axis_names), "out_specs": P(*kept)}
    return jax.jit(jax.shard_map(add, mesh=mesh, **specs))(x)


def numbered(mesh):
    """Return int32 numbers from 0, one on each device, in the order of the mesh."""
    numbers = np.arange(mesh.size, dtype=np.int32).reshape(mesh.axis_sizes)
    return jax.device_put(numbers, NamedSharding(mesh, P(*mesh.axis_names)))


def lower(mesh, name="inner"):
    """Lower the sums along `name`, on a grid with four devices to a row."""
    grid = by_hand(mesh.devices, (-1, 4), ("rows", "inner"))
    shape = 2048 * grid.shape["rows"], 128 * grid.shape["inner"]  # 1 MiB each
    sharding = NamedSharding(grid, P("rows", "inner"))
    x = jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)
    return jax.jit(totals, static_argnames=("mesh", "name")).lower(x, grid, name)


def lower_rows(mesh):
    """Lower the sums down the columns of the same grid, along "rows"."""
    return lower(mesh, "rows")


def main():
    """Lay out eight devices in two ways, and add up along each axis of each.

    >>> main()
    {'rows': 2, 'inner': 4}: sums along rows are NumPy's: True
    {'rows': 2, 'inner': 4}: sums along inner are NumPy's: True
    {'rows': 4, 'inner': 2}: sums along rows are NumPy's: True
    {'rows': 4, 'inner': 2}: sums along inner are NumPy's: True
    """
    for sizes in (2, 4), (4, 2):
        mesh = by_hand(jax.devices(), sizes, ("rows", "inner"))
        x = numbered(mesh)
        for name in mesh.axis_names:
            equal = np.array_equal(totals(x, mesh, name), reference(x, mesh, name))
            assert equal, name
            print(f"{dict(mesh.shape)}: sums along {name} are NumPy's: {equal}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
