"""Multiply two matrices when no device holds a whole row.

Why it is hard: each number of `a @ b` is a sum along the inner axis, and that axis is
split over the devices, so no device can finish a single number.
What finishes it: each device multiplies the blocks it holds, which gives a partial sum
for every number, and one collective adds these up. `psum` leaves the total on every
device, `psum_scatter` leaves each device its own rows of it.

Run it: `python -m examples.shard_map.split_inner`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

LARGE = True  # its compilers are asked about thousands of chips, too
COLUMNS = P(None, "inner")  # of a: every device holds some columns
ROWS = P("inner", None)  # of b: every device holds the rows that meet its columns


def reference(a, b):
    """Return `a @ b` by NumPy."""
    return np.asarray(a) @ np.asarray(b)


def split_inner(a, b, mesh):
    """Return `a @ b`, whole on every device; a is split as COLUMNS, b as ROWS."""

    def multiply_and_add(a, b):
        partial = a @ b  # (8, 2) @ (2, 4): two of the 16 terms of every sum
        return lax.psum(partial, "inner")

    specs = {"in_specs": (COLUMNS, ROWS), "out_specs": P()}
    return jax.shard_map(multiply_and_add, mesh=mesh, **specs)(a, b)


def split_inner_scatter(a, b, mesh):
    """Return `a @ b` split as ROWS; its rows are a multiple of the devices."""

    def multiply_and_add(a, b):
        partial = a @ b
        return lax.psum_scatter(partial, "inner", tiled=True)

    specs = {"in_specs": (COLUMNS, ROWS), "out_specs": ROWS}
    return jax.shard_map(multiply_and_add, mesh=mesh, **specs)(a, b)


def gradients(multiply, mesh):
    """Return a jitted function of a, b and the slope of each number of the product.

    It returns the slopes of a and of b; slopes of the product are split as it is.
    """

    def pull(a, b, slopes):
        return jax.vjp(lambda a, b: multiply(a, b, mesh), a, b)[1](slopes)

    return jax.jit(pull)


def partial_sums(a, b, mesh):
    """Return what the devices hold before they add, one block below the other."""
    specs = {"in_specs": (COLUMNS, ROWS), "out_specs": ROWS}
    return jax.shard_map(jnp.matmul, mesh=mesh, **specs)(a, b)


def matrices():
    """Return a, (8, 16), and b, (16, 4): whole numbers as float32 NumPy arrays."""
    numbers = np.random.default_rng(8)
    a, b = numbers.integers(3, size=(8, 16)), numbers.integers(3, size=(16, 4))
    return a.astype(np.float32), b.astype(np.float32)


def lower(mesh, multiply=split_inner):
    """Lower `multiply` for a mesh of any size, from shapes alone.

    A device holds (m, 512) of a and (512, 1024) of b, in float32; m is 4096, rounded
    up to a multiple of the devices, and its partial sums are (m, 1024).
    """
    kinds = (AxisType.Explicit,)
    mesh = Mesh(mesh.devices.reshape(-1), ("inner",), axis_types=kinds)
    n = mesh.size
    rows = -(-4096 // n) * n
    inputs = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))
        for shape, spec in [((rows, 512 * n), COLUMNS), ((512 * n, 1024), ROWS)]
    ]
    return jax.jit(multiply, static_argnames="mesh").lower(*inputs, mesh)


def lower_scatter(mesh):
    """Lower `split_inner_scatter` for the matrices of `lower`."""
    return lower(mesh, split_inner_scatter)


def main():
    """Multiply both ways, compare with NumPy, and print what each device holds.

    >>> main()
    before the sum  8 x (8, 4)
    psum            8 x (8, 4)
    psum_scatter    8 x (1, 4)
    """
    mesh = jax.make_mesh((8,), ("inner",))
    whole_a, whole_b = matrices()
    a = jax.device_put(whole_a, NamedSharding(mesh, COLUMNS))
    b = jax.device_put(whole_b, NamedSharding(mesh, ROWS))
    partial = partial_sums(a, b, mesh)
    held = {
        "before the sum": partial,
        "psum": split_inner(a, b, mesh),
        "psum_scatter": split_inner_scatter(a, b, mesh),
    }
    answer = reference(whole_a, whole_b)
    blocks = [np.asarray(shard.data) for shard in partial.addressable_shards]
    assert np.array_equal(sum(blocks), answer)
    assert np.array_equal(held["psum"], answer)
    assert np.array_equal(held["psum_scatter"], answer)
    for name, array in held.items():
        pieces = [shard.data.shape for shard in array.addressable_shards]
        print(f"{name:15} {len(pieces)} x {pieces[0]}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
