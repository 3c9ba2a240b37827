"""Give a body its specs: it is written, and right for one way to cut and join.

`center` takes a table and a weight for each row. The devices are a grid of four along
"rows" and two along "inner"; the table is to be cut along both its axes.
"""

import jax
import numpy as np
from jax import P, lax

from examples.shard_map.specs import is_spec, put

TILES = P("rows", "inner")


def center(table, weight):
    """Return the weighted mean of the rows, and the table without it: (k,), (n, k)."""
    total = lax.psum(weight.sum(), "rows")
    mean = lax.psum(weight @ table, "rows") / total
    return {"mean": mean, "centered": table - mean}


def solution():
    """Return the in_specs and the out_specs of `center`."""
    return (TILES, P("rows")), {"mean": P("inner"), "centered": TILES}


def check(make):
    """Raise AssertionError, with what to look at, unless the specs of `make` are right.

    make(): a pair of in_specs, for table and weight, and out_specs.
    """
    made = make()
    assert isinstance(made, tuple) and len(made) == 2, (
        f"make() returns two things, in_specs and out_specs; yours returns {made}"
    )
    in_specs, out_specs = made
    assert all(map(is_spec, jax.tree.leaves(made, is_leaf=is_spec))), (
        f"in_specs and out_specs are made of P; yours are {in_specs} and {out_specs}"
    )
    grid = jax.make_mesh((4, 2), ("rows", "inner"))
    table = np.arange(48, dtype=np.float32).reshape(8, 6) % 7
    weight = np.array([1, 2, 0, 1, 1, 0, 2, 1], np.float32)  # they add up to eight
    each = in_specs if isinstance(in_specs, tuple) else (in_specs, in_specs)
    for name, x, spec in zip(("table", "weight"), (table, weight), each, strict=False):
        assert len(spec) <= x.ndim, (
            f"{name} has shape {x.shape}; {spec} speaks of more axes than that"
        )
    mean = weight @ table / weight.sum()
    expected = {"mean": mean, "centered": table - mean}
    try:
        args = put((table, weight), grid, in_specs)
        specs = {"in_specs": in_specs, "out_specs": out_specs}
        found = jax.jit(jax.shard_map(center, mesh=grid, **specs))(*args)
    except (ValueError, TypeError) as error:
        said = " ".join(str(error).split())
        raise AssertionError(f"with these specs JAX says: {said}") from None
    for name, answer in expected.items():
        assert found[name].shape == answer.shape, (
            f"{name} has shape {answer.shape}; your out_specs join it to "
            f"{found[name].shape}: is it alike along an axis it is joined by?"
        )
        assert np.array_equal(found[name], answer), f"the numbers of {name} are wrong"
    assert args[0].sharding.spec == TILES, (
        f"the table is to be cut along both its axes, into blocks of (2, 3); yours are "
        f"{args[0].sharding.shard_shape(table.shape)}"
    )


def mistake_forgets_inner():
    """Cut the rows, and leave every device all columns: right, but not as asked."""
    return (P("rows"), P("rows")), {"mean": P(), "centered": P("rows")}


def mistake_promises_one_mean():
    """Think that a mean is one for all: the devices on the right have other columns."""
    return (TILES, P("rows")), {"mean": P(), "centered": TILES}


def mistake_cuts_weights_like_the_table():
    """Give the weights, which have one axis, the spec of the table, which has two."""
    return (TILES, TILES), {"mean": P("inner"), "centered": TILES}


def mistake_deals_weights_to_all():
    """Cut the weights over all eight devices: a block has weights for half its rows."""
    return (TILES, P(("rows", "inner"))), {"mean": P("inner"), "centered": TILES}


def mistake_joins_the_mean_by_rows():
    """Join the mean by the axis that it was summed over: it comes four times."""
    return (TILES, P("rows")), {"mean": P(("rows", "inner")), "centered": TILES}
