"""Lower sums over devices, and say in NumPy what they are.

`reference` is `lax.psum` on a list with the shard of each device. `lower` and
`lower_along_inner` add 4 MiB over all devices, and over pairs of them.

Run it: `python -m examples.collectives.psum`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.collectives.blocks import blocks_of
from examples.tools.traffic import sends


def reference(shards, how=np.sum):
    """Return what each device gets: the sum of all shards, or another reduction."""
    total = how(shards, axis=0)
    return [total for _ in shards]


def summed(x, mesh, collective=lax.psum):
    """Return the sum of all shards, replicated: (n * k,) gives (k,)."""

    def body(block):
        return collective(block, "rows")

    specs = {"in_specs": P("rows"), "out_specs": P()}
    return jax.shard_map(body, mesh=mesh, **specs)(x)


def along_inner(x, grid):
    """Return the sum over "inner" for each place along "rows"."""

    def body(block):
        return lax.psum(block, "inner")

    specs = {"in_specs": P(("rows", "inner")), "out_specs": P("rows")}
    return jax.shard_map(body, mesh=grid, **specs)(x)


def ring_bytes(operand, n):
    """Return the bytes that each of `n` devices sends to add shards of `operand`."""
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
    """Compare each reduction with its list, and print what one device sends.

    >>> main()
    psum True
    pmean True
    pmax True
    pmin True
    4 MiB on each of 8 devices: 7 MiB sent
    """
    mesh = jax.make_mesh((8,), ("rows",))
    x = jax.device_put(np.float32(range(16)), NamedSharding(mesh, P("rows")))
    for name in ("sum", "mean", "max", "min"):
        found = blocks_of(summed(x, mesh, getattr(lax, f"p{name}")))
        expected = reference(blocks_of(x), getattr(np, name))
        print(f"p{name}", np.array_equal(found, expected))
    [sent] = sends(lower(mesh))
    print(f"{sent.operand >> 20} MiB on each of 8 devices: {sent.moved >> 20} MiB sent")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
