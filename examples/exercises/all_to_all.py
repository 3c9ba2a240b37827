"""Sort every column of a table that is sharded by rows, and communicate little.

Write the body of a `shard_map` over "data": it gets two of sixteen rows and returns
the two rows of the sorted table that belong there. No device may hold all of it.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends


def solution(x):
    """Get whole columns, sort them, and give the rows back: (2, 24) gives (2, 24)."""
    columns = lax.all_to_all(x, "data", split_axis=1, concat_axis=0, tiled=True)
    columns = jnp.sort(columns, axis=0)
    return lax.all_to_all(columns, "data", split_axis=0, concat_axis=1, tiled=True)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x): float32 (2, 24), one of eight shards of (16, 24), to the same shape.
    """
    table = np.arange(16 * 24, dtype=np.float32).reshape(16, 24) * 37 % 101

    def body(x):
        answer = make(x)
        assert isinstance(answer, jax.Array) and answer.shape == x.shape, (
            f"two rows of the sorted table should have shape {x.shape}; "
            f"yours has {np.shape(answer) or type(answer).__name__}"
        )
        return answer

    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        x = jax.device_put(table, P("data"))
        mapped = jax.shard_map(body, in_specs=P("data"), out_specs=P("data"))
        found = np.asarray(jax.jit(mapped)(x))
        moving = sends(jax.jit(mapped).lower(x))
    assert not np.array_equal(found, table), "the table came back as it was"
    if not np.array_equal(found, np.sort(table, axis=0)):
        ordered = np.array_equal(np.sort(found, axis=0), np.sort(table, axis=0))
        assert not ordered, "each column has its numbers, but not in order"
        raise AssertionError(
            "numbers went from one column to another: compare the axes of the second "
            "exchange with those of the first"
        )
    moved = sum(sent.moved * sent.times for sent in moving)
    assert moved <= 2 * table.nbytes // 8, (
        f"each device sends {moved} bytes, and holds only {table.nbytes // 8}: "
        f"{', '.join(sent.kind for sent in moving)}"
    )
    print("The check passes.")


def mistake_sorts_what_it_holds(x):
    """You sorted only the two rows of each shard, not all sixteen of the table."""
    return jnp.sort(x, axis=0)


def mistake_goes_back_as_it_came(x):
    """You gave the second `all_to_all` the axes of the first, and did not swap them."""
    columns = lax.all_to_all(x, "data", 1, 0, tiled=True)
    ordered = jnp.sort(columns, axis=0).reshape(x.shape)
    return lax.all_to_all(ordered, "data", 1, 0, tiled=True).reshape(x.shape)


def mistake_does_not_go_back(x):
    """You sorted whole columns, but did not exchange them back for rows."""
    return jnp.sort(lax.all_to_all(x, "data", 1, 0, tiled=True), axis=0)


def mistake_gathers_it_all(x):
    """You gathered the whole table on every device, to return two rows of it."""
    table = jnp.sort(lax.all_gather(x, "data", tiled=True), axis=0)
    first = lax.axis_index("data") * len(x)
    return lax.dynamic_slice_in_dim(table, first, len(x))
