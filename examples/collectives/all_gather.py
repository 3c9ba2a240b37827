"""Lower gathers over devices, and say in NumPy what they are.

`reference` is `lax.all_gather` on a list with the shard of each device.
`lower_gradient` is the backward pass of gathered weights, whose collective depends on
`to=`.

Run it: `python -m examples.collectives.all_gather`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.collectives.blocks import blocks_of
from examples.tools.traffic import sends


def reference(blocks, axis=0, tiled=False):
    """Return what each device gets: all shards, stacked or (tiled) concatenated."""
    join = np.concatenate if tiled else np.stack
    everything = join(blocks, axis=axis)
    return [everything for _ in blocks]


def gathered(x, mesh, axis=0, tiled=False):
    """Return all shards of `x`, which is sharded over "rows", replicated."""

    def body(block):
        return lax.all_gather(block, "rows", axis=axis, tiled=tiled, to="invarying")

    specs = {"in_specs": P("rows"), "out_specs": P()}
    return jax.shard_map(body, mesh=mesh, **specs)(x)


def along_inner(x, grid):
    """Return the shards along "inner", concatenated, for each place along "rows"."""

    def body(block):
        return lax.all_gather(block, "inner", tiled=True, to="invarying")

    specs = {"in_specs": P(("rows", "inner")), "out_specs": P("rows")}
    return jax.shard_map(body, mesh=grid, **specs)(x)


def loss(weights, rows, mesh, to="varying"):
    """Return the sum of `row @ weights`: (k,) and (n, k), both sharded, give ()."""

    def body(part, row):  # (k / n,) and (1, k)
        whole = lax.all_gather(part, "rows", tiled=True, to=to)
        return lax.psum(row[0] @ whole, "rows")

    specs = {"in_specs": P("rows"), "out_specs": P()}
    return jax.shard_map(body, mesh=mesh, **specs)(weights, rows)


def ring_bytes(operand, n):
    """Return the bytes that each of `n` devices sends to gather shards of `operand`."""
    return (n - 1) * operand


def lower(mesh):
    """Lower a tiled `gathered` for a mesh of any size, with 4 MiB on each device."""
    rows = NamedSharding(mesh, P("rows"))
    x = jax.ShapeDtypeStruct((1024 * mesh.size, 1024), jnp.float32, sharding=rows)
    return jax.jit(gathered, static_argnums=(1, 2, 3)).lower(x, mesh, 0, True)


def lower_along_inner(mesh):
    """Lower the gather over pairs of devices, with 4 MiB on each device."""
    axes = ("rows", "inner")
    grid = Mesh(mesh.devices.reshape(-1, 2), axes, axis_types=(AxisType.Explicit,) * 2)
    split = NamedSharding(grid, P(axes))
    x = jax.ShapeDtypeStruct((1024 * mesh.size, 1024), jnp.float32, sharding=split)
    return jax.jit(along_inner, static_argnums=1).lower(x, grid)


def lower_gradient(mesh, to="varying"):
    """Lower the gradient of `loss`, with 1 MiB of the weights on each device."""
    rows = NamedSharding(mesh, P("rows"))
    k = 2**18 * mesh.size
    weights = jax.ShapeDtypeStruct((k,), jnp.float32, sharding=rows)
    x = jax.ShapeDtypeStruct((mesh.size, k), jnp.float32, sharding=rows)
    gradient = jax.jit(jax.grad(loss), static_argnums=(2, 3))
    return gradient.lower(weights, x, mesh, to)


def lower_gradient_of_one_array(mesh):
    """Lower the gradient of `loss` with gathered weights typed as replicated."""
    return lower_gradient(mesh, "invarying")


def main():
    """Compare each call with its list, and print what one device sends.

    >>> main()
    axis=0, tiled=False: (2, 3) gives (8, 2, 3) True
    axis=1, tiled=False: (2, 3) gives (2, 8, 3) True
    axis=0, tiled=True: (2, 3) gives (16, 3) True
    axis=1, tiled=True: (2, 3) gives (2, 24) True
    4 MiB on each of 8 devices: 28 MiB sent
    """
    mesh = jax.make_mesh((8,), ("rows",))
    numbers = np.arange(48, dtype=np.float32).reshape(16, 3)
    x = jax.device_put(numbers, NamedSharding(mesh, P("rows")))
    blocks = blocks_of(x)
    for tiled, axis in (False, 0), (False, 1), (True, 0), (True, 1):
        found = gathered(x, mesh, axis, tiled)
        right = np.array_equal(blocks_of(found), reference(blocks, axis, tiled))
        print(f"{axis=}, {tiled=}: {blocks[0].shape} gives {found.shape} {right}")
    [sent] = sends(lower(mesh))
    print(f"{sent.operand >> 20} MiB on each of 8 devices: {sent.moved >> 20} MiB sent")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
