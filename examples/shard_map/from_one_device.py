"""Run one function on eight devices, and see what each of them sees.

Why it is hard: the body is written once and runs everywhere, on arrays that are not the
ones you passed, and nothing in it says which device it is on.
What finishes it: a definition in plain Python, which cuts the arguments, calls the body
for every device, and joins the results; and a matrix product, first with nothing to
send, then with one sum over the devices.

Run it: `python -m examples.shard_map.from_one_device`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

ROWS = P("rows")
TILES = P("rows", "inner")  # of a, on a grid: some rows, and of these some columns
INNER = P("inner")  # of b, on a grid: the rows that meet those columns


def reference_shard_map(f, mesh, in_specs, out_specs):
    """Return `f`, a body without collectives, mapped over `mesh` by plain Python.

    `in_specs` has a spec for each argument, `out_specs` is that of the result.
    """

    def mapped(*args):
        answers = []
        for place in places(mesh):
            pairs = zip(args, in_specs, strict=True)
            blocks = [cut(x, spec, mesh, place) for x, spec in pairs]
            answers.append((place, f(*blocks)))
        return join(answers, out_specs, mesh)

    return mapped


def places(mesh):
    """Return where each device stands in `mesh`: a list of {axis name: index}."""
    indices = np.ndindex(mesh.devices.shape)
    return [dict(zip(mesh.axis_names, index, strict=True)) for index in indices]


def cut(x, spec, mesh, place):
    """Return the block of the NumPy array `x` at `place`, a view and no copy."""
    for axis, names in enumerate(spec):
        number, pieces = 0, 1
        for name in in_a_tuple(names):
            number = number * mesh.shape[name] + place[name]
            pieces *= mesh.shape[name]
        x = np.split(x, pieces, axis)[number]
    return x


def join(answers, spec, mesh):
    """Return the array that has each of `answers`, (place, block), where it belongs."""
    shape = list(np.shape(answers[0][1]))
    for axis, names in enumerate(spec):
        for name in in_a_tuple(names):
            shape[axis] *= mesh.shape[name]
    whole = np.empty(shape, answers[0][1].dtype)
    for place, answer in answers:
        cut(whole, spec, mesh, place)[...] = answer
    return whole


def in_a_tuple(names):
    """Return an entry of a spec as a tuple: None, one name, or several."""
    return names if isinstance(names, tuple) else () if names is None else (names,)


def both(f, mesh, in_specs, out_specs, *args):
    """Return what `jax.shard_map` and its definition make of NumPy arrays."""
    pairs = zip(args, in_specs, strict=True)
    placed = [jax.device_put(x, NamedSharding(mesh, spec)) for x, spec in pairs]
    specs = {"mesh": mesh, "in_specs": in_specs, "out_specs": out_specs}
    return jax.shard_map(f, **specs)(*placed), reference_shard_map(f, **specs)(*args)


def numbers(rows=8, columns=4):
    """Return a table of whole numbers, float32 (rows, columns), by NumPy."""
    return np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)


def report(x):
    """Print what this device holds, and return it."""
    jax.debug.print("device {} has {}", lax.axis_index("rows"), x)
    return x


def shapes_seen(way, x):
    """Return the shape that a body sees each time Python runs it, mapped by `way`."""
    seen = []

    def body(x):
        seen.append(x.shape)
        return x

    way(body)(x)
    return seen


def rows_times(mesh):
    """Return a function from a, by ROWS, and b, whole, to a @ b, split by ROWS."""

    def body(a, b):
        return a @ b  # some rows of a, all of b: these rows of the answer are finished

    return jax.shard_map(body, mesh=mesh, in_specs=(ROWS, P()), out_specs=ROWS)


def tiles_times(mesh):
    """Return a function from a, by TILES, and b, by INNER, to a @ b, split by ROWS."""

    def body(a, b):
        partial = a @ b  # some columns of a: some of the terms of every sum
        return lax.psum(partial, "inner")

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
    """Compare the definition with `jax.shard_map`, and two products with NumPy.

    >>> main()
    a (8, 4) array is a block (1, 4) to the body, which Python ran once
    the definition agrees with jax.shard_map: True
    rows: each device multiplies (1, 4) by (4, 6)
    tiles: each device multiplies (2, 2) by (2, 6)
    both products are right: True
    """
    if devices is None:
        devices = jax.devices() if jax.device_count() >= 8 else jax.devices("cpu")
    mesh = jax.make_mesh((8,), ("rows",), devices=devices[:8])
    whole = numbers()
    x = jax.device_put(whole, NamedSharding(mesh, ROWS))

    def mapped(body):
        return jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)

    [shape] = shapes_seen(mapped, x)
    print(f"a {x.shape} array is a block {shape} to the body, which Python ran once")

    pairs, grid = lambda x, y: x @ y.T, grid_of(mesh)
    in_specs, out_specs = (ROWS, INNER), TILES
    found, expected = both(pairs, grid, in_specs, out_specs, whole, whole)
    agrees = np.array_equal(found, expected)
    assert agrees and np.array_equal(found, whole @ whole.T)
    print(f"the definition agrees with jax.shard_map: {agrees}")

    b = numbers(4, 6)
    products = {
        "rows": (rows_times(mesh), (mesh, ROWS, P())),
        "tiles": (tiles_times(grid), (grid, TILES, INNER)),
    }
    right = []
    for name, (times, (place, *specs)) in products.items():
        split = [NamedSharding(place, spec) for spec in specs]
        shapes = [s.shard_shape(m.shape) for s, m in zip(split, (x, b), strict=True)]
        print(f"{name}: each device multiplies {shapes[0]} by {shapes[1]}")
        answer = times(*jax.device_put((whole, b), tuple(split)))
        right.append(np.array_equal(answer, whole @ b))
    assert all(right)
    print(f"both products are right: {all(right)}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
