"""Sort every column of a table whose rows are split, and send no more than you must.

Given x, float32 (m, k), split by rows over the mesh axis "rows", return it with each
column in ascending order, split by rows again. No device may hold the whole table.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.tools.traffic import sends

ROWS = P("rows")


def solution(x, mesh):
    """Give each device whole columns, sort them there, and give the rows back."""

    def body(block):
        columns = lax.all_to_all(block, "rows", 1, 0, tiled=True)
        ordered = jnp.sort(columns, axis=0)
        return lax.all_to_all(ordered, "rows", 0, 1, tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)


def check(sort_columns):
    """Raise AssertionError, with what to look at, unless `sort_columns` is right.

    sort_columns(x, mesh): float32 (16, 24) on eight devices to the same, and sorted.
    """
    mesh = jax.make_mesh((8,), ("rows",))
    table = np.arange(16 * 24, dtype=np.float32).reshape(16, 24) * 37 % 101
    x = jax.device_put(table, NamedSharding(mesh, ROWS))
    found, expected = sort_columns(x, mesh), np.sort(table, axis=0)
    assert np.shape(found) == table.shape, (
        f"the sorted table should have the shape {table.shape}; "
        f"yours has {np.shape(found)}"
    )
    assert not np.array_equal(found, table), "the table came back as it was"
    if not np.array_equal(found, expected):
        ordered = np.array_equal(np.sort(found, axis=0), expected)
        assert not ordered, "each column has its numbers, but not in order"
        raise AssertionError(
            "numbers went from one column to another: compare the axes of the way back "
            "with those of the way there"
        )
    assert found.sharding.spec in (ROWS, P("rows", None)), (
        f"the rows should be split again; the spec is {found.sharding.spec}"
    )
    sent = sends(jax.jit(lambda x: sort_columns(x, mesh)).lower(x))
    moved, share = sum(each.moved * each.times for each in sent), x.nbytes // 8
    assert moved <= 2 * share, (
        f"each device sends {moved} bytes, and holds only {share}: "
        f"{', '.join(each.kind for each in sent)}"
    )


def mistake_sorts_what_it_holds(x, mesh):
    """Sort axis 0 of the block: that is two rows of sixteen."""

    def body(block):
        return jnp.sort(block, axis=0)

    return jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)


def mistake_goes_back_as_it_came(x, mesh):
    """Use the same two axes both ways, since a transpose undoes itself."""

    def body(block):
        columns = lax.all_to_all(block, "rows", 1, 0, tiled=True)
        ordered = jnp.sort(columns, axis=0).reshape(block.shape)
        return lax.all_to_all(ordered, "rows", 1, 0, tiled=True).reshape(block.shape)

    return jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)


def mistake_does_not_go_back(x, mesh):
    """Call the columns the result: the numbers are right, and split the other way."""

    def body(block):
        return jnp.sort(lax.all_to_all(block, "rows", 1, 0, tiled=True), axis=0)

    specs = {"in_specs": ROWS, "out_specs": P(None, "rows")}
    return jax.shard_map(body, mesh=mesh, **specs)(x)


def mistake_gathers_it_all(x, mesh):
    """Gather the table on every device, sort all of it, and keep two rows."""

    def body(block):
        whole = jnp.sort(lax.all_gather(block, "rows", tiled=True), axis=0)
        first = lax.axis_index("rows") * len(block)
        return lax.dynamic_slice_in_dim(whole, first, len(block))

    return jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)
