"""Nest shard_map, one mesh axis at a time.

Why it is hard: the inner `shard_map` runs where the outer one has already divided the
devices, so a mesh of its own contradicts the one it stands in.
What finishes it: one mesh. The outer map takes one axis by `axis_names`, the inner one
takes another, and leaves `mesh=` out.

Run it: `python -m examples.nested.shard_map_in_shard_map`
"""

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

BOTH = P(("rows", "inner"))  # one axis of an array, cut by both axes of the mesh


def reference(x):
    """Return the sums of the pairs of `x`: (2m,) gives (m,)."""
    return x.reshape(-1, 2).sum(axis=1)


def total(x):
    """Return the sum over the two devices of a pair: (1,) gives (1,)."""
    return lax.psum(x, "inner")


def pair(x):
    """Return the sum of the numbers of one pair of devices: (2,) gives (1,)."""
    inner = jax.shard_map(
        total, axis_names={"inner"}, in_specs=P("inner"), out_specs=P()
    )
    return inner(x)


def nested(mesh):
    """Map `pair` over "rows": (2m,) split as BOTH gives (m,) split over "rows"."""
    outer = jax.shard_map(
        pair, mesh=mesh, axis_names={"rows"}, in_specs=P("rows"), out_specs=P("rows")
    )
    return jax.jit(outer)


def flat(mesh):
    """Do the same with one `shard_map` over both axes."""
    both = jax.shard_map(total, mesh=mesh, in_specs=BOTH, out_specs=P("rows"))
    return jax.jit(both)


def by_smap(mesh, x):
    """Do the same with two `smap`s, which take `in_axes` as `vmap` does."""
    inner = jax.smap(total, axis_name="inner", in_axes=0, out_axes=None)
    with jax.set_mesh(mesh):
        return jax.jit(jax.smap(inner, axis_name="rows", in_axes=0, out_axes=0))(x)


def lower(mesh):
    """Lower the nested maps for a mesh of any size, as a grid two devices wide."""
    pairs, explicit = mesh.devices.reshape(-1, 2), (AxisType.Explicit,) * 2
    grid = Mesh(pairs, ("rows", "inner"), axis_types=explicit)
    x = jax.ShapeDtypeStruct(
        (mesh.size,), jnp.float32, sharding=NamedSharding(grid, BOTH)
    )
    return nested(grid).lower(x)


def main():
    """Sum pairs of numbers by nested maps, by one map and on one device.

    >>> main()
    [1.0, 5.0, 9.0, 13.0]
    nested equals flat: True
    nested equals one device: True
    """
    mesh = jax.make_mesh((4, 2), ("rows", "inner"))
    x = jnp.arange(8.0)
    on_mesh = jax.device_put(x, NamedSharding(mesh, BOTH))
    sums = jax.device_get(nested(mesh)(on_mesh))
    print(sums.tolist())
    equal = bool((sums == jax.device_get(flat(mesh)(on_mesh))).all())
    print(f"nested equals flat: {equal}")
    print(f"nested equals one device: {bool((sums == reference(x)).all())}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
