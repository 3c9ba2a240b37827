"""Add the blocks of all devices, and leave the sum on every device.

Why it is hard: no device holds more than its own term, and all of them want the sum.
What finishes it: `psum` over the axis by its name. Written as a list of blocks it is a
sum and a copy for each device; as traffic it is less than two blocks a device, however
many devices there are.

Run it: `python -m examples.collectives.psum`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.collectives.blocks import blocks_of, in_groups
from examples.tools.traffic import sends


def reference(blocks, how=np.sum):
    """Every device gets the sum of all blocks, or what else NumPy makes of them."""
    total = how(blocks, axis=0)
    return [total for _ in blocks]


def summed(x, mesh, collective=lax.psum):
    """Return the sum of all blocks, whole on every device: (n * k,) gives (k,)."""

    def body(block):
        return collective(block, "rows")

    specs = {"in_specs": P("rows"), "out_specs": P()}
    return jax.shard_map(body, mesh=mesh, **specs)(x)


def along_inner(x, grid):
    """Return the sums of blocks that share their place along "rows", one for each."""

    def body(block):
        return lax.psum(block, "inner")

    specs = {"in_specs": P(("rows", "inner")), "out_specs": P("rows")}
    return jax.shard_map(body, mesh=grid, **specs)(x)


def loss(x, weights, mesh):
    """Return a number made of the sum of all blocks: (n * k,) and (k,) give ()."""
    return summed(x, mesh) @ weights


def ring_bytes(operand, n):
    """Return the bytes that each of `n` devices sends to add blocks of `operand`."""
    return 2 * (n - 1) * operand // n


def lower(mesh):
    """Lower `summed` for a mesh of any size, with 4 MiB on each device."""
    rows = NamedSharding(mesh, P("rows"))
    x = jax.ShapeDtypeStruct((1024 * mesh.size, 1024), jnp.float32, sharding=rows)
    return jax.jit(summed, static_argnums=1).lower(x, mesh)


def lower_along_inner(mesh):
    """Lower the sum over pairs of devices, with 4 MiB on each device."""
    axes = ("rows", "inner")
    grid = Mesh(mesh.devices.reshape(-1, 2), axes, axis_types=(AxisType.Explicit,) * 2)
    split = NamedSharding(grid, P(axes))
    x = jax.ShapeDtypeStruct((1024 * mesh.size, 1024), jnp.float32, sharding=split)
    return jax.jit(along_inner, static_argnums=1).lower(x, grid)


def main():
    """Sum over eight devices and over pairs of them; compare with lists of blocks.

    >>> main()
    psum (2,) True
    pmean (2,) True
    pmax (2,) True
    pmin (2,) True
    in pairs (8,) True
    4 MiB on each of 8 devices: 7 MiB sent
    """
    mesh = jax.make_mesh((8,), ("rows",))
    grid = jax.make_mesh((4, 2), ("rows", "inner"))
    x = jax.device_put(np.float32(range(16)), NamedSharding(mesh, P("rows")))
    blocks = blocks_of(x)
    for name, how in {
        "sum": np.sum,
        "mean": np.mean,
        "max": np.max,
        "min": np.min,
    }.items():
        found = summed(x, mesh, getattr(lax, f"p{name}"))
        right = np.array_equal(blocks_of(found), reference(blocks, how))
        print(f"p{name}", found.shape, right)
    on_grid = jax.device_put(x, NamedSharding(grid, P(("rows", "inner"))))
    found = along_inner(on_grid, grid)
    [sent] = sends(jax.jit(along_inner, static_argnums=1).lower(on_grid, grid))
    pairs = in_groups(reference, blocks, sent.groups)
    print("in pairs", found.shape, np.array_equal(blocks_of(found), pairs))
    [sent] = sends(lower(mesh))
    assert sent.moved == ring_bytes(sent.operand, 8)
    print(f"{sent.operand >> 20} MiB on each of 8 devices: {sent.moved >> 20} MiB sent")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
