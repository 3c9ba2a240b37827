"""Find the specs of a function that is written: a weighted mean of sharded rows.

`center` takes a table and a weight for each row. The mesh has four devices along "data"
and two along "model"; the table is to be sharded along both its axes.
"""

import jax
import numpy as np
from jax import P, lax

TILES = P("data", "model")


def center(table, weight):
    """Return the weighted mean of the rows, (k,), and the table minus it, (n, k)."""
    total = lax.psum(weight.sum(), "data")
    mean = lax.psum(weight @ table, "data") / total
    return {"mean": mean, "centered": table - mean}


def solution():
    """Return the in_specs and the out_specs of `center`."""
    tiles = P("data", "model")
    return (tiles, P("data")), {"mean": P("model"), "centered": tiles}


def check(make):
    """Raise AssertionError, with what to look at, unless the specs of `make` are right.

    make(): a pair of in_specs, for table and weight, and out_specs.
    """
    made = make()
    assert isinstance(made, tuple) and len(made) == 2, (
        f"make() returns two things, in_specs and out_specs; yours returns {made}"
    )
    in_specs, out_specs = made
    assert all(isinstance(leaf, P) for leaf in jax.tree.leaves(made)), (
        f"in_specs and out_specs are made of P; yours are {in_specs} and {out_specs}"
    )
    mesh = jax.make_mesh((4, 2), ("data", "model"))
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
        with jax.set_mesh(mesh):
            args = jax.device_put((table, weight), in_specs)
            mapped = jax.shard_map(center, in_specs=in_specs, out_specs=out_specs)
            found = jax.jit(mapped)(*args)
    except (ValueError, TypeError) as error:
        said = " ".join(str(error).split())
        raise AssertionError(f"with these specs JAX says: {said}") from None
    for name, answer in expected.items():
        assert found[name].shape == answer.shape, (
            f"{name} has shape {answer.shape}; your out_specs make it "
            f"{found[name].shape}: is it equal along an axis that they name?"
        )
        assert np.array_equal(found[name], answer), f"the numbers of {name} are wrong"
    assert args[0].sharding.spec == TILES, (
        f"the table is to be sharded along both its axes, into shards of "
        f"(2, 3); yours are {args[0].sharding.shard_shape(table.shape)}"
    )
    print("The check passes.")


def mistake_forgets_model():
    """You sharded the table by rows only, so every device has all columns."""
    return (P("data"), P("data")), {"mean": P(), "centered": P("data")}


def mistake_promises_one_mean():
    """You declared the mean replicated, but along `model` the columns differ."""
    return (TILES, P("data")), {"mean": P(), "centered": TILES}


def mistake_shards_weights_like_the_table():
    """You gave the weights, which have one axis, the table's spec, which has two."""
    return (TILES, TILES), {"mean": P("model"), "centered": TILES}


def mistake_deals_weights_to_all():
    """You sharded the weights over both axes, so each device lacks half of its own."""
    return (TILES, P(("data", "model"))), {"mean": P("model"), "centered": TILES}


def mistake_concatenates_the_mean():
    """You concatenated the mean over `data`, where it is equal: it comes four times."""
    return (TILES, P("data")), {"mean": P(("data", "model")), "centered": TILES}
