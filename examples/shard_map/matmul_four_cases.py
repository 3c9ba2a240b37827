"""Lower a product of two sharded matrices in each of its four cases.

Whether `a @ b` communicates depends on the contracting dimension, which the product
sums over: sharded in neither matrix, in one, in both; and when both outer dimensions
are sharded over one mesh axis, one matrix is gathered. This file lowers each case for
meshes of any size, so that compilers for hardware that is not here can be asked what
they make of it.

Run it: `python -m examples.shard_map.matmul_four_cases`
"""

import jax
import jax.numpy as jnp
from jax import P
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.tools.traffic import sends

ROWS, COLUMNS, REPLICATED = P("model", None), P(None, "model"), P(None, None)
CASES = {  # how a, b and their product are sharded
    1: (ROWS, REPLICATED, ROWS),
    2: (ROWS, ROWS, ROWS),
    3: (COLUMNS, ROWS, REPLICATED),
    4: (ROWS, COLUMNS, ROWS),
}


def lower(mesh, number=4):
    """Lower a case on Explicit axes, in groups of eight, each with rows of its own.

    In a group a, b and the product are (4096, 4096) float32: 64 MiB where they are
    replicated, 8 MiB on each device where they are sharded.
    """
    kinds = (AxisType.Explicit,) * 2
    grid = Mesh(mesh.devices.reshape(-1, 8), ("batch", "model"), axis_types=kinds)
    a_spec, b_spec, product = CASES[number]
    out = NamedSharding(grid, in_groups(product))
    a, b = (
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(grid, spec))
        for shape, spec in [
            ((512 * mesh.size, 4096), in_groups(a_spec)),
            ((4096, 4096), b_spec),
        ]
    )
    return jax.jit(lambda a, b: jnp.matmul(a, b, out_sharding=out)).lower(a, b)


def in_groups(spec):
    """Return `spec` with the rows sharded over groups of devices first."""
    first, second = spec
    return P(("batch", first) if first else "batch", second)


def lower_case_1(mesh):
    """Lower the case of no sharded contracting dimension."""
    return lower(mesh, 1)


def lower_case_2(mesh):
    """Lower the case of one sharded contracting dimension."""
    return lower(mesh, 2)


def lower_case_3(mesh):
    """Lower the case of two sharded contracting dimensions."""
    return lower(mesh, 3)


def main(devices=None):
    """Print what each case communicates.

    >>> main()
    case 1: nothing
    case 2: all-gather, 58,720,256 bytes a device
    case 3: all-reduce, 117,440,512 bytes a device
    case 4: all-gather, 58,720,256 bytes a device
    """
    mesh = jax.make_mesh((8,), ("rows",), devices=(devices or jax.devices())[:8])
    for number in CASES:
        found = sends(lower(mesh, number))
        each = [f"{one.kind}, {one.moved:,} bytes a device" for one in found]
        print(f"case {number}: {'; '.join(each) or 'nothing'}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
