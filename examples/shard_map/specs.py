"""Say how the arguments of a `shard_map` are cut, and how its results are joined.

Why it is hard: a spec speaks of the axes of an array and of the axes of a mesh in one
breath, and a wrong one may fit.
What finishes it: see the block that each spec gives the body, and the array that each
spec makes of the body's blocks.

Run it: `python -m examples.shard_map.specs`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

PARAMS = {"w": P("inner"), "b": P()}  # a spec for each leaf of a dictionary
X = P("rows", "inner")


def reference(params, x):
    """Return `x @ w + b` by NumPy: (n, k) to (n, m)."""
    return x @ params["w"] + params["b"]


def layer(params, x):
    """Return some rows of `x @ w + b`, from some columns of x and some rows of w."""
    return lax.psum(x @ params["w"], "inner") + params["b"]


def inputs(rows=8):
    """Return params, w (4, 6) and b (6,), and x, (rows, 4), as NumPy arrays."""
    whole = np.arange(4.0 * rows, dtype=np.float32).reshape(rows, 4)
    w = np.arange(24, dtype=np.float32).reshape(4, 6) % 5
    return {"w": w, "b": w[0]}, whole


def put(tree, mesh, specs):
    """Put arrays on `mesh`, as `specs` says: a spec, or a tree of specs, a prefix."""
    split = jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs, is_leaf=is_spec)
    return jax.device_put(tree, split)


def is_spec(leaf):
    """Return whether `leaf` is a spec."""
    return isinstance(leaf, P)


def block_shape(x, mesh, spec):
    """Return the shape of the block that a body gets of `x` by `spec`."""
    shapes = []

    def body(block):
        shapes.append(block.shape)
        return block

    mapped = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec)
    mapped(put(x, mesh, spec))
    return shapes[0]


def grid_of(mesh):
    """Return the devices of `mesh` as a grid, n/2 along "rows" and 2 along "inner"."""
    devices = mesh.devices.reshape(-1, 2)
    return Mesh(devices, ("rows", "inner"), axis_types=(AxisType.Explicit,) * 2)


def joined(x, mesh, out_specs):
    """Return the blocks of `x`, split by "rows", joined again by `out_specs`."""
    specs = {"in_specs": P("rows"), "out_specs": out_specs}
    return jax.shard_map(lambda block: block, mesh=mesh, **specs)(x)


def lower(mesh):
    """Lower `layer` for a mesh of any size: 1024 rows in each row of its grid."""
    grid = grid_of(mesh)
    shapes = {"w": (4096, 1024), "b": (1024,)}, (1024 * grid.shape["rows"], 4096)
    args = jax.tree.map(
        lambda spec, shape: jax.ShapeDtypeStruct(
            shape, jnp.float32, sharding=NamedSharding(grid, spec)
        ),
        (PARAMS, X),
        shapes,
        is_leaf=is_spec,
    )
    specs = {"in_specs": (PARAMS, X), "out_specs": P("rows")}
    return jax.jit(jax.shard_map(layer, mesh=grid, **specs)).lower(*args)


def main():
    """Cut and join a table by several specs, and run a layer with a tree of them.

    >>> main()
    on a mesh of 4 by 2, the block of (8, 16) is
    (8, 16) with nothing cut
    (2, 16) with rows cut by 4
    (2, 8) with rows cut by 4, columns by 2
    (1, 16) with rows cut by 4 and again by 2
    eight blocks (1, 2) are joined to (8, 2) or (1, 16)
    a layer with a tree of specs is right: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    grid = grid_of(mesh)
    table = np.arange(128, dtype=np.float32).reshape(8, 16)
    cuts = {
        "nothing cut": P(),
        "rows cut by 4": P("rows"),
        "rows cut by 4, columns by 2": P("rows", "inner"),
        "rows cut by 4 and again by 2": P(("rows", "inner")),
    }
    print(f"on a mesh of 4 by 2, the block of {table.shape} is")
    for name, spec in cuts.items():
        print(f"{block_shape(table, grid, spec)} with {name}")

    x = put(table[:, :2], mesh, P("rows"))
    below, beside = joined(x, mesh, P("rows")), joined(x, mesh, P(None, "rows"))
    assert np.array_equal(below, x) and np.array_equal(beside, np.ravel(x)[None])
    print(f"eight blocks (1, 2) are joined to {below.shape} or {beside.shape}")

    params, whole = inputs()
    specs = {"in_specs": (PARAMS, X), "out_specs": P("rows")}
    args = put((params, whole), grid, specs["in_specs"])
    answer = jax.jit(jax.shard_map(layer, mesh=grid, **specs))(*args)
    right = np.array_equal(answer, reference(params, whole))
    assert right
    print(f"a layer with a tree of specs is right: {right}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
