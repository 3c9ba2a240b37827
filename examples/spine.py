"""Center a table with one body: under a loop, and under four maps.

The mean belongs to no single row, so every row has to hear from all the others.
`lax.pmean` asks for it by name, and each map answers for its own rows and devices.
It is finished when five runners return the same numbers.

Run it: python -m examples.spine
"""

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import NamedSharding

LARGE = True  # its compilers are asked about thousands of chips, too


def center(x):
    """Return one row, `x`, minus the mean of all: (4,), or (1, 4) as a block."""
    return x - lax.pmean(x, "rows")


def by_loop(x):
    """Center the table `x`, (rows, columns), row after row: the reference."""
    mean = sum(x) / len(x)
    return jnp.stack([row - mean for row in x])


def by_vmap(x):
    """Center `x`, all rows at once on one device."""
    return jax.vmap(center, axis_name="rows")(x)


def by_pmap(x):
    """Center `x`, one row on each device, as older programs do."""
    return jax.pmap(center, axis_name="rows")(x)


def by_smap(x, mesh):
    """Center `x`, one row on each device of `mesh`, with one axis named."""
    with jax.set_mesh(mesh):
        return jax.smap(center, in_axes=0, out_axes=0, axis_name="rows")(x)


def by_shard_map(x, mesh):
    """Center `x`, one row on each device of `mesh`, as the specs say."""
    return jax.shard_map(center, mesh=mesh, in_specs=P("rows"), out_specs=P("rows"))(x)


def table():
    """Return (8, 4) float32: whole numbers whose column means are whole numbers."""
    return jnp.outer(jnp.arange(5.0, 13.0), jnp.arange(5.0, 9.0)) % 15


def lower(mesh):
    """Lower `by_shard_map` with one row for each device of `mesh`, without data."""
    rows = NamedSharding(mesh, P("rows"))
    x = jax.ShapeDtypeStruct((mesh.size, 4), jnp.float32, sharding=rows)
    return jax.jit(by_shard_map, static_argnames="mesh").lower(x, mesh)


def main():
    """Run all five, compare the numbers, and print which shape each device holds.

    >>> main()
    by_loop       1 x (8, 4)
    by_vmap       1 x (8, 4)
    by_pmap       8 x (1, 4)
    by_smap       8 x (1, 4)
    by_shard_map  8 x (1, 4)
    """
    mesh = jax.make_mesh((8,), ("rows",))
    x = table()
    split = jax.device_put(x, NamedSharding(mesh, P("rows")))
    reference = by_loop(x)
    answers = {
        "by_loop": reference,
        "by_vmap": by_vmap(x),
        "by_pmap": by_pmap(x),
        "by_smap": by_smap(split, mesh),
        "by_shard_map": by_shard_map(split, mesh),
    }
    for name, answer in answers.items():
        assert (answer == reference).all(), name
        pieces = [shard.data.shape for shard in answer.addressable_shards]
        print(f"{name:13} {len(pieces)} x {pieces[0]}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
