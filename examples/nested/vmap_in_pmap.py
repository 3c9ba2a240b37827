"""Map a function over ten million rows, with every device and every lane at work.

Why it is hard: `pmap` takes one item for each device and no more, so an array of rows
fits it only after it is folded into one block for each device; and rows that eight does
not divide do not fold.
What finishes it: `vmap` inside, for all rows of a block at once; padding, and a mask
that says which rows are real. Or no folding at all: one `jit(vmap)` over rows that are
already split.

Run it: `python -m examples.nested.vmap_in_pmap`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import NamedSharding, SingleDeviceSharding

from examples.tools.traffic import sends


def reference(v, u):
    """Return the dot products of all rows, (n,), on one device, without any map."""
    return (v * u).sum(axis=1)


def dot(v, u):
    """Return the dot product of two rows, (k,) and (k,), as a scalar."""
    return jnp.vdot(v, u)


def products(v, u):
    """Return the dot product of two rows of three, written out."""
    return v[0] * u[0] + v[1] * u[1] + v[2] * u[2]


def rows_of_three(count, sharding):
    """Return two arrays of whole numbers below 251, float32 (count, 3), made in place.

    Each device makes the rows that `sharding` gives it; nothing is sent.
    """

    def make():
        row = jax.lax.broadcasted_iota(jnp.int32, (count, 3), 0)
        column = jax.lax.broadcasted_iota(jnp.int32, (count, 3), 1)
        v, u = 1 + (row + column) % 250, 1 + (row + 2 * column) % 7
        return v.astype(jnp.float32), u.astype(jnp.float32)

    return jax.jit(make, out_shardings=sharding)()


def by_pmap(mesh):
    """Return a function from blocks, (8, n/8, k) twice, to dot products, (8, n/8).

    The axis has the mesh's name, or blocks that lie on the mesh raise a KeyError.
    """
    return jax.pmap(jax.vmap(dot), axis_name="rows", devices=list(mesh.devices.flat))


def by_shard_map(mesh):
    """Return a function from split rows, (n, k) twice, to split dot products, (n,)."""
    lanes = jax.vmap(dot)  # sees (n/8, k): the rows of its device
    one = P("rows")
    return jax.jit(jax.shard_map(lanes, mesh=mesh, in_specs=one, out_specs=one))


def padded(x, blocks):
    """Fold (n, k) into equal blocks, (blocks, m, k), with zero rows where x ends.

    The second array, bool (blocks, m), says which rows are real.
    """
    m = -(-len(x) // blocks)  # n / blocks, rounded up
    full = jnp.pad(x, ((0, blocks * m - len(x)), (0, 0)))
    real = jnp.arange(blocks * m) < len(x)
    return full.reshape(blocks, m, -1), real.reshape(blocks, m)


def lower(mesh):
    """Lower `by_shard_map` for a mesh of any size: 1.25 million rows on each device."""
    rows = jax.ShapeDtypeStruct(
        (1_250_000 * mesh.size, 3), jnp.float32, sharding=NamedSharding(mesh, P("rows"))
    )
    return by_shard_map(mesh).lower(rows, rows)


def main():
    """Run the three forms on eight devices and compare each with one device.

    >>> main()
    rows (80000, 3), on each of 8 devices (10000, 3)
    pmap alone gives (8,), pmap(vmap) gives (8, 10000)
    pmap(vmap) equals one device: True
    jit(shard_map(vmap)) equals one device: True
    jit(vmap) of split rows equals one device: True
    collectives in the three programs: 0
    1003 rows in blocks (8, 126): the smallest is right: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    split = NamedSharding(mesh, P("rows"))
    v, u = rows_of_three(80_000, split)
    one = SingleDeviceSharding(jax.devices()[0])
    expected = reference(*rows_of_three(80_000, one))
    piece = split.shard_shape(v.shape)
    print(f"rows {v.shape}, on each of {mesh.size} devices {piece}")

    blocks = v.reshape(8, -1, 3), u.reshape(8, -1, 3)
    pmapped, manual = by_pmap(mesh), by_shard_map(mesh)
    automatic = jax.jit(jax.vmap(dot))
    alone = jax.pmap(dot, axis_name="rows")(*blocks)
    dots = pmapped(*blocks)
    print(f"pmap alone gives {alone.shape}, pmap(vmap) gives {dots.shape}")
    answers = {
        "pmap(vmap)": dots.reshape(-1),
        "jit(shard_map(vmap))": manual(v, u),
        "jit(vmap) of split rows": automatic(v, u),
    }
    for name, answer in answers.items():
        equal = np.array_equal(answer, expected)
        assert equal, name
        print(f"{name} equals one device: {equal}")
    assert automatic(v, u).sharding == split

    found = sends(pmapped.lower(*blocks))
    found += sends(manual.lower(v, u)) + sends(automatic.lower(v, u))
    assert not found, found
    print(f"collectives in the three programs: {len(found)}")

    few = 1 + np.arange(3009, dtype=np.float32).reshape(1003, 3) % 11
    padding, real = padded(few, mesh.size)
    squares = pmapped(padding, padding)
    smallest = squares.min(where=real, initial=jnp.inf)
    right = smallest == reference(few, few).min() > squares.min() == 0
    assert right
    print(f"{len(few)} rows in blocks {real.shape}: the smallest is right: {right}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
