"""Let rows hear from each other: name the mapped axis, and ask for it by name.

Why it is hard: `vmap` shows a function one row, and a batch norm needs the mean of all;
under `shard_map` a device sees a block, and a row may have neighbors beside it and on
other devices.
What finishes it: collectives that name an axis, `lax.pmean(row, "rows")`. Whoever maps
the function says what the name stands for: lanes, devices, or lanes on devices.

Run it: `python -m examples.vmap.named_axis`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

EPSILON = 1.0  # large, so that every root below is a whole number
ROWS = P("rows")


def reference(x):
    """Return the batch norm of a table, (rows, columns), computed as a whole."""
    return (x - x.mean(axis=0)) / jnp.sqrt(x.var(axis=0) + EPSILON)


def normalize(row, names="rows"):
    """Return the batch norm of one row, (columns,), over the axes called `names`."""
    away = row - lax.pmean(row, names)
    return away / jnp.sqrt(lax.pmean(away**2, names) + EPSILON)


def heard(x):
    """Return what one row, a number, learns about all rows, by operation."""
    return {
        "psum": lax.psum(x, "rows"),
        "pmean": lax.pmean(x, "rows"),
        "pmax": lax.pmax(x, "rows"),
        "axis_index": lax.axis_index("rows"),
        "axis_size": lax.axis_size("rows"),
        "all_gather": lax.all_gather(x, "rows"),
    }


def by_vmap(x):
    """Normalize (rows, columns): each row is a lane."""
    return jax.vmap(normalize, axis_name="rows")(x)


def by_shard_map(x, mesh):
    """Normalize (devices, columns), split by rows: each row is on its own device."""
    return jax.shard_map(normalize, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)


def by_both(x, mesh, check_vma=False):
    """Normalize (rows, columns), split by rows: the lanes of all devices."""
    both = partial(normalize, names=("rows", "batch"))
    lanes = jax.vmap(both, axis_name="batch")
    specs = {"in_specs": ROWS, "out_specs": ROWS, "check_vma": check_vma}
    return jax.shard_map(lanes, mesh=mesh, **specs)(x)


def totals(x):
    """Return three sums of one number: over "inner", over "rows", and over both."""
    return lax.psum(x, "inner"), lax.psum(x, "rows"), lax.psum(x, ("rows", "inner"))


def row_sum(mesh):
    """Return a function from a row, (n,), split over "model", to its sum."""

    def add(piece):
        return lax.psum(piece.sum(), "model")

    return jax.shard_map(add, mesh=mesh, in_specs=P("model"), out_specs=P())


def samples():
    """Return (16, 4) float32: variance 24 in each column, 15 in every other row."""
    away = np.repeat(np.float32([1, -1, 3, -3, 5, -5, 5, -5]), 2)
    away += np.tile(np.float32([3, -3]), 8)
    return jnp.asarray(np.outer(away, [1, -1, 1, -1]) + np.float32([5, 6, 7, 8]))


def lower(mesh):
    """Lower `by_both` for a mesh of any size, two rows for each device."""
    rows = NamedSharding(mesh, ROWS)
    x = jax.ShapeDtypeStruct((2 * mesh.size, 4), jnp.float32, sharding=rows)
    return jax.jit(by_both, static_argnames="mesh").lower(x, mesh)


def main():
    """Normalize by lanes, by devices, and by lanes on devices, and compare.

    >>> main()
    (8, 4): lanes and devices agree with the whole table: True
    (16, 4): lanes on devices agree with the whole table: True
    (16, 4): blocks of two rows under one name do not: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    sixteen = samples()
    eight = sixteen[::2]
    spread = jax.device_put((eight, sixteen), NamedSharding(mesh, ROWS))
    same = [
        np.array_equal(answer, reference(eight))
        for answer in (by_vmap(eight), by_shard_map(spread[0], mesh))
    ]
    both = np.array_equal(by_both(spread[1], mesh), reference(sixteen))
    one_name = np.array_equal(by_shard_map(spread[1], mesh), reference(sixteen))
    claims = {
        "(8, 4): lanes and devices agree with the whole table": all(same),
        "(16, 4): lanes on devices agree with the whole table": both,
        "(16, 4): blocks of two rows under one name do not": not one_name,
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
