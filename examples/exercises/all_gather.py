"""Multiply by weights that are split by columns, and give every device the answer.

`x` `(m, k)` is on every device, `weights` `(k, n)` are split by columns over "rows".
Write the body of the `shard_map`: it returns `x @ weights`, all of it, on every device,
and sends no more than it has to.
"""

import jax
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.tools.traffic import sends


def solution(x, columns):
    """Return the product, (m, n): the columns of the answer travel, not the weights."""
    return lax.all_gather(x @ columns, "rows", axis=1, tiled=True, to="invarying")


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x, columns): float32 (m, k) and (k, n / devices), to float32 (m, n), which
    leaves the `shard_map` by `out_specs=P()`.
    """
    mesh = jax.make_mesh((8,), ("rows",))
    x = np.arange(64, dtype=np.float32).reshape(2, 32) % 7
    weights = np.arange(768, dtype=np.float32).reshape(32, 24) % 5
    split = jax.device_put(weights, NamedSharding(mesh, P(None, "rows")))
    whole = jax.device_put(x, NamedSharding(mesh, P()))

    def body(x, columns):
        answer = make(x, columns)
        assert isinstance(answer, jax.Array) and answer.shape == (2, 24), (
            f"(2, 32) @ (32, 24) needs an answer of shape (2, 24) on every device; "
            f"yours has {np.shape(answer) or type(answer).__name__}"
        )
        return answer

    specs = {"in_specs": (P(), P(None, "rows")), "out_specs": P()}
    program = jax.jit(jax.shard_map(body, mesh=mesh, **specs))
    try:
        lowered = program.lower(whole, split)
    except ValueError as error:
        if "can't be statically inferred" not in str(error):
            raise
        raise AssertionError(
            "JAX cannot tell that all devices return the same array: "
            "what does `to=` say about the copies?"
        ) from None
    found = np.asarray(program(whole, split))
    assert np.array_equal(found, x @ weights), (
        "the shape is right, the numbers differ from x @ weights: are the columns in "
        "the order of the devices?"
    )
    operand = sum(sent.operand for sent in sends(lowered))
    assert operand <= 2 * 3 * 4, (
        f"the answer has 2 x 3 new numbers on each device, 24 bytes; your devices put "
        f"in {operand} bytes: what is smaller, the weights or the product?"
    )


def mistake_brings_the_weights_together(x, columns):
    """Collect the weights first, because the formula says `x @ weights`."""
    return x @ lax.all_gather(columns, "rows", axis=1, tiled=True, to="invarying")


def mistake_stacks(x, columns):
    """Leave out `tiled`: the blocks of the answer lie on an axis of their own."""
    return lax.all_gather(x @ columns, "rows", to="invarying")


def mistake_joins_the_other_axis(x, columns):
    """Leave `axis` as it comes, and lay columns below each other."""
    return lax.all_gather(x @ columns, "rows", tiled=True, to="invarying")


def mistake_reshapes_what_was_stacked(x, columns):
    """Stack, then force the shape: the columns of the devices are mixed up."""
    answer = lax.all_gather(x @ columns, "rows", axis=0, to="invarying")
    return answer.reshape(2, 24)


def mistake_keeps_many_copies(x, columns):
    """Gather as it comes: to JAX, each device then holds an array of its own."""
    return lax.all_gather(x @ columns, "rows", axis=1, tiled=True)
