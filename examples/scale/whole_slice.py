"""Lower what FSDP does with one matrix, over all chips of a slice and over groups.

The matrix is sharded along `fsdp`, the batch along both axes of the mesh. It is
compiled at the default level: what is gathered, and how gradients are added.

Run it: `python -m examples.scale.whole_slice`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

WIDTH = 4096
ROWS = P(("data", "fsdp"))  # of the batch
CHIPS = "v4:4x4x4", "v5p:4x4x4", "tpu7x:4x4x4"
TOPOLOGIES = {  # that each way is compiled for
    "lower": ("v5p:2x2x4", "v5e:16x16", "v6e:16x16", *CHIPS),
    "lower_all_gather": CHIPS,
    "lower_all_gather_gradient": ("v5e:8x16", "v5e:16x16", "v6e:16x16"),
    "lower_groups": CHIPS,
    "lower_all_gather_groups": CHIPS,
    "lower_eight_groups": ("v5p:8x8x8",),
    "lower_gradient_groups": CHIPS[1:2],
    "lower_all_gather_gradient_groups": CHIPS[1:2],
    "lower_product_groups": CHIPS[1:2],
}


def by_reshard(w, x):
    """Multiply with a matrix that `jit` gathers."""
    return x @ jax.reshard(w, P())


def by_all_gather(w, x):
    """Multiply with a matrix that `shard_map` gathers."""

    def body(w, x):
        return x @ lax.all_gather(w, "fsdp", tiled=True)

    return jax.shard_map(body, in_specs=(P("fsdp"), ROWS), out_specs=ROWS)(w, x)


def gradient(multiply):
    """Return the gradient of a loss with respect to the sharded matrix."""
    return jax.grad(lambda w, x: (multiply(w, x).astype(jnp.float32) ** 2).mean())


def product(y, x):
    """Return what the gradient of a matrix is, and say where: sharded along `fsdp`."""
    contract = ((0,), (0,)), ((), ())
    return lax.dot_general(x, y, contract, out_sharding=P("fsdp"))


def mesh_of(mesh, groups):
    """Return a mesh of some groups, with the devices of a mesh of one axis."""
    shape = groups, mesh.size // groups
    return jax.make_mesh(shape, ("data", "fsdp"), devices=[*mesh.devices.flat])


def lowered(function, mesh, groups=1):
    """Lower a function of a matrix, or of a batch, and of a batch, in bfloat16."""
    grid = mesh_of(mesh, groups)

    def shaped(rows, spec):
        sharding = jax.NamedSharding(grid, spec)
        return jax.ShapeDtypeStruct((rows, WIDTH), jnp.bfloat16, sharding=sharding)

    with jax.set_mesh(grid):
        x = shaped(512 * mesh.size, ROWS)
        first = x if function is product else shaped(WIDTH, P("fsdp"))
        return jax.jit(lambda a, x: function(a, x)).lower(first, x)


def lower(mesh):
    """Lower the product with a matrix gathered over all chips, in `jit`."""
    return lowered(by_reshard, mesh)


def lower_all_gather(mesh):
    """Lower the product with a matrix gathered over all chips, in `shard_map`."""
    return lowered(by_all_gather, mesh)


def lower_all_gather_gradient(mesh):
    """Lower the gradient that goes back through an `all_gather` over all chips."""
    return lowered(gradient(by_all_gather), mesh)


def lower_groups(mesh):
    """Lower the product with a matrix gathered over four groups, in `jit`."""
    return lowered(by_reshard, mesh, 4)


def lower_eight_groups(mesh):
    """Lower the product with a matrix gathered over eight groups, in `jit`."""
    return lowered(by_reshard, mesh, 8)


def lower_all_gather_groups(mesh):
    """Lower the product with a matrix gathered over four groups, in `shard_map`."""
    return lowered(by_all_gather, mesh, 4)


def lower_gradient_groups(mesh):
    """Lower the gradient that goes back through a `reshard`, in four groups."""
    return lowered(gradient(by_reshard), mesh, 4)


def lower_all_gather_gradient_groups(mesh):
    """Lower the gradient that goes back through an `all_gather`, in four groups."""
    return lowered(gradient(by_all_gather), mesh, 4)


def lower_product_groups(mesh):
    """Lower the product that is such a gradient, in four groups."""
    return lowered(product, mesh, 4)


def main():
    """Compare both ways to gather, going forward and back, with one device.

    >>> main()
    in 4 groups of 2: True
    """
    rows = jax.make_mesh((8,), ("rows",))
    draw = np.random.default_rng(0)
    w, x = draw.normal(size=(16, 16)), draw.normal(size=(64, 16))
    w, x = w.astype(np.float32), x.astype(np.float32)
    expected = 2 * x.T @ (x @ w) / (64 * 16)
    with jax.set_mesh(mesh_of(rows, 4)):
        placed = jax.device_put(w, P("fsdp")), jax.device_put(x, ROWS)
        ways = [jax.jit(gradient(way))(*placed) for way in (by_reshard, by_all_gather)]
        y = jax.jit(by_reshard)(*placed)
        ways.append(jax.jit(product)(y * 2 / (64 * 16), placed[1]))
    right = all(np.allclose(way, expected, rtol=1e-2, atol=1e-2) for way in ways)
    print(f"in 4 groups of 2: {right}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
