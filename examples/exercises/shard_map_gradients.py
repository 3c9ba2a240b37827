"""Take the gradient of weights that are sharded, as fully sharded training does.

Weights (n,), inputs (m, n) and targets (m,) are all sharded over "data". Return the
gradient of the mean squared error of all examples with respect to the weights,
(n,), sharded as they are: each device ends with its own shard, and no device computes
the whole gradient to throw most of it away.

Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion
Parameter Models", 2020, stage 3.
"""

import jax
import numpy as np
from jax import P, lax


@jax.jit
@jax.shard_map(in_specs=(P("data"), P("data"), P("data")), out_specs=P("data"))
def solution(w, inputs, targets):
    """Return the gradient of the mean loss: the backward pass sums and scatters."""

    def mean_loss(w):
        w = lax.all_gather(w, "data", tiled=True)
        loss = ((inputs @ w - targets) ** 2).mean()
        return lax.pmean(loss, "data")

    return jax.grad(mean_loss)(w)


def check(gradient):
    """Raise AssertionError, with what to look at, unless `gradient` is right.

    gradient(w, inputs, targets): (16,), (16, 16) and (16,), sharded, give (16,).
    """
    inputs = np.arange(256, dtype=np.float32).reshape(16, 16) % 5
    w = np.arange(16, dtype=np.float32) % 3
    targets = np.arange(16, dtype=np.float32) % 7
    expected = (inputs @ w - targets) @ inputs / 8
    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        given = jax.device_put((w, inputs, targets), P("data"))
        found = gradient(*given)
        assert found is not None, "the gradient is an array; yours is None"
        assert found.shape == (16,), f"16 weights have 16 slopes, not {found.shape}"
        assert not np.array_equal(found, 8 * expected), (
            "every slope is eight times too large: how many losses were counted?"
        )
        assert np.array_equal(found, expected), (
            f"the first two are {expected[:2]}; yours are {np.asarray(found)[:2]}"
        )
        spec = found.sharding.spec
        assert spec == P("data"), (
            f"the gradient is sharded as the weights are, not {spec}"
        )
        program = jax.jit(gradient).lower(*given).compile().as_text()
    assert "all-reduce" not in program and "reduce-scatter" in program, (
        "the numbers are right, but every device computes the whole gradient and keeps "
        "a part of it: a reduce-scatter gives each device the part that it keeps"
    )
    print("The check passes.")


def error(w, inputs, targets):
    """Return this device's loss: weights (n/devices,), (k, n) and (k,) give ()."""
    w = lax.all_gather(w, "data", tiled=True)
    return ((inputs @ w - targets) ** 2).mean()


def mean_error(w, inputs, targets):
    """Return the mean of all devices' losses: ()."""
    return lax.pmean(error(w, inputs, targets), "data")


@jax.jit
@jax.shard_map(in_specs=(P("data"), P("data"), P("data")), out_specs=P("data"))
def mistake_takes_the_local_loss(w, inputs, targets):
    """You left out the mean over devices, so the gradient is eight times too large."""
    return jax.grad(error)(w, inputs, targets)


@jax.jit
@jax.shard_map(in_specs=(P("data"), P("data"), P("data")), out_specs=P("data"))
def mistake_averages_shards(w, inputs, targets):
    """You averaged the gradients over devices, but each is of another shard."""
    return lax.pmean(jax.grad(error)(w, inputs, targets), "data")


@jax.jit
@jax.shard_map(
    in_specs=(P("data"), P("data"), P("data")), out_specs=P("data"), check_vma=False
)
def mistake_switches_off_the_check(w, inputs, targets):
    """You turned off `check_vma`, which makes the gradient eight times too large."""
    return jax.grad(mean_error)(w, inputs, targets)


@jax.jit
@jax.shard_map(in_specs=(P("data"), P("data"), P("data")), out_specs=P("data"))
def mistake_keeps_a_slice(w, inputs, targets):
    """You gathered the weights first, so every device computed the whole gradient."""

    def mean_loss(w):
        return lax.pmean(((inputs @ w - targets) ** 2).mean(), "data")

    gathered = lax.all_gather(w, "data", tiled=True, to="invarying")
    first = lax.axis_index("data") * len(w)
    return lax.dynamic_slice_in_dim(jax.grad(mean_loss)(gathered), first, len(w))
