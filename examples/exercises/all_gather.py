"""Multiply by weights that are sharded by columns, and give every device the product.

`x` (m, k) is replicated, `w` (k, n) is sharded by columns over "model".
Write the body of the `shard_map`: it returns `x @ w`, all of it, on every device, and
communicates no more than it has to.
"""

import jax
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends


def solution(x, w):
    """Return the product, (m, n): gather the product, not the weights."""
    return lax.all_gather(x @ w, "model", axis=1, tiled=True, to="invarying")


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x, columns): float32 (m, k) and (k, n / devices), to float32 (m, n), which
    leaves the `shard_map` by `out_specs=P()`.
    """
    x = np.arange(64, dtype=np.float32).reshape(2, 32) % 7
    weights = np.arange(768, dtype=np.float32).reshape(32, 24) % 5

    def body(x, w):
        answer = make(x, w)
        assert isinstance(answer, jax.Array) and answer.shape == (2, 24), (
            f"(2, 32) @ (32, 24) needs an answer of shape (2, 24) on every device; "
            f"yours has {np.shape(answer) or type(answer).__name__}"
        )
        assert not jax.typeof(answer).manual_axis_type.varying, (
            "JAX cannot tell that all devices return the same array: "
            "what does `to=` say?"
        )
        return answer

    with jax.set_mesh(jax.make_mesh((8,), ("model",))):
        given = jax.device_put((x, weights), (P(), P(None, "model")))
        mapped = jax.shard_map(body, in_specs=(P(), P(None, "model")), out_specs=P())
        found = np.asarray(jax.jit(mapped)(*given))
        moving = sends(jax.jit(mapped).lower(*given))
    assert np.array_equal(found, x @ weights), (
        "the shape is right, the numbers differ from x @ w: are the columns in the "
        "order of the devices?"
    )
    operand = sum(sent.operand for sent in moving)
    assert operand <= 2 * 3 * 4, (
        f"a device has 2 x 3 numbers of the product, 24 bytes; yours puts in {operand} "
        "bytes: what is smaller, the weights or the product?"
    )
    print("The check passes.")


def mistake_brings_the_weights_together(x, columns):
    """You gathered the weights, which are larger than the product."""
    return x @ lax.all_gather(columns, "model", axis=1, tiled=True, to="invarying")


def mistake_stacks(x, columns):
    """You left out `tiled=True`, so the shards were stacked along a new axis."""
    return lax.all_gather(x @ columns, "model", to="invarying")


def mistake_joins_the_other_axis(x, columns):
    """You left `axis` at 0, so the shards were concatenated as rows."""
    return lax.all_gather(x @ columns, "model", tiled=True, to="invarying")


def mistake_reshapes_what_was_stacked(x, columns):
    """You reshaped the stacked shards without a transpose: the columns are mixed up."""
    answer = lax.all_gather(x @ columns, "model", axis=0, to="invarying")
    return answer.reshape(2, 24)


def mistake_keeps_many_copies(x, columns):
    """You left out `to="invarying"`, so by its type the result is varying."""
    return lax.all_gather(x @ columns, "model", axis=1, tiled=True)
