"""Compute a tensor-parallel MLP whose two layers have biases.

Write what each device of a `shard_map` over "model" does: it has four of 32 hidden
units, with their biases, and all of the second bias. Every device must return the whole
result, after one all-reduce.
"""

import jax
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends

SPECS = {
    "up": P(None, "model"),
    "up_bias": P("model"),
    "down": P("model", None),
    "down_bias": P(),
}


def solution(weights, x):
    """The sum over the devices comes first, and the replicated bias is added after."""
    hidden = jax.nn.relu(x @ weights["up"] + weights["up_bias"])
    return lax.psum(hidden @ weights["down"], "model") + weights["down_bias"]


def check(mlp):
    """Raise AssertionError, with what to look at, unless `mlp` is right.

    mlp(weights, x): a dict of the shards of four weights, and float32 (6, 5), to
    float32 (6, 7).
    """
    draw = np.random.default_rng(0).integers
    shapes = {"up": (5, 32), "up_bias": (32,), "down": (32, 7), "down_bias": (7,)}
    weights = {name: np.float32(draw(-3, 4, shapes[name])) for name in shapes}
    x = np.float32(draw(-3, 4, (6, 5)))
    hidden = np.maximum(x @ weights["up"] + weights["up_bias"], 0)
    expected = hidden @ weights["down"] + weights["down_bias"]

    def body(weights, x):
        found = mlp(weights, x)
        assert np.shape(found) == (6, 7), (
            f"six examples have a result of (6, 7); yours: {np.shape(found) or found}"
        )
        return found

    with jax.set_mesh(jax.make_mesh((8,), ("model",))):
        given = jax.device_put((weights, x), (SPECS, P()))
        mapped = jax.jit(jax.shard_map(body, in_specs=(SPECS, P()), out_specs=P()))
        try:
            found = np.asarray(mapped(*given))
        except ValueError as error:
            if "replication" in str(error):
                raise AssertionError(
                    "the results differ between devices: each has its own units only"
                ) from None
            raise
        moving = [sent.kind for sent in sends(mapped.lower(*given))]
    apart = found - expected
    assert not np.allclose(apart, 7 * weights["down_bias"]), (
        "the second bias is in the result eight times, once for each device"
    )
    assert not np.any(apart), (
        f"the first result is {expected[0, 0]:g}, yours is {found[0, 0]:g}: which "
        "biases belong to the units of one device, and what is added over devices?"
    )
    assert moving == ["all-reduce"] or jax.default_backend() != "cpu", (
        f"one all-reduce is enough; yours communicates by {sorted(set(moving))}"
    )
    print("The check passes.")


def mistake_adds_the_second_bias_first(weights, x):
    """You added the second bias before the `psum`, so it is added eight times."""
    hidden = jax.nn.relu(x @ weights["up"] + weights["up_bias"])
    return lax.psum(hidden @ weights["down"] + weights["down_bias"], "model")


def mistake_adds_no_units(weights, x):
    """You left out the `psum`, so each device has only what its own units add."""
    hidden = jax.nn.relu(x @ weights["up"] + weights["up_bias"])
    return hidden @ weights["down"] + weights["down_bias"]


def mistake_adds_hidden_units(weights, x):
    """You took a `psum` before `relu`, which adds up different hidden units."""
    before = lax.psum(x @ weights["up"] + weights["up_bias"], "model")
    result = lax.psum(jax.nn.relu(before) @ weights["down"], "model")
    return result + weights["down_bias"]


def mistake_gathers_the_units(weights, x):
    """You gathered all weights, so every device computed the whole MLP."""

    def gathered(name, axis):
        w = weights[name]
        return lax.all_gather(w, "model", axis=axis, tiled=True, to="invarying")

    hidden = jax.nn.relu(x @ gathered("up", 1) + gathered("up_bias", 0))
    return hidden @ gathered("down", 0) + weights["down_bias"]
