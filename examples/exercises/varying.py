"""Smooth the losses of eight training runs, and find the lowest, with the check on.

Every device holds the losses (k,) of one run. Return the exponential moving average at
the end of each run, (devices,), sharded over "data", and the lowest of them, (), the
same on every device. An average starts at zero, and each loss moves it by half.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=(P("data"), P()))
def solution(losses):
    """Return the averages, whose carry varies, and their `pmin`, which does not."""

    def smooth(average, loss):
        return 0.5 * average + 0.5 * loss, None

    start = lax.pcast(jnp.zeros(()), "data", to="varying")
    average, _ = lax.scan(smooth, start, losses)
    return average[None], lax.pmin(average, "data")


def check(smoothed):
    """Raise AssertionError, with what to look at, unless `smoothed` is right.

    smoothed(losses): (48,), sharded, gives (8,), sharded, and (), replicated.
    """
    runs = np.arange(48, dtype=np.float32).reshape(8, 6) * 7 % 15 + 1
    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        for losses in (runs, runs[::-1], runs**2):
            placed = jax.device_put(losses.reshape(-1), P("data"))
            found = smoothed(placed)
            assert isinstance(found, tuple), "return two outputs: averages, the lowest"
            each, lowest = found
            expected = losses @ 0.5 ** np.arange(6, 0, -1, dtype=np.float32)
            assert np.array_equal(each, expected), (
                f"the averages are {expected.tolist()}; "
                f"yours are {np.asarray(each).tolist()}"
            )
            assert each.sharding.spec == P("data"), "each device keeps its own average"
            held = {float(shard.data) for shard in lowest.addressable_shards}
            assert held == {float(expected.min())}, (
                f"every device has to hold the lowest, {expected.min()}; "
                f"yours hold {sorted(held)}"
            )
        program = str(jax.make_jaxpr(smoothed)(placed))
    assert "check_vma=True" in program and "check_vma=False" not in program, (
        "the numbers are right, but nothing proves it: leave the check on"
    )
    print("The check passes.")


def smooth(average, loss):
    """Move the average by half of its distance to the loss."""
    return 0.5 * average + 0.5 * loss, None


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=(P("data"), P()), check_vma=False)
def mistake_believes_the_hint(losses):
    """You turned off `check_vma`, and returned each device's average as the lowest."""
    average, _ = lax.scan(smooth, 0.0, losses)
    return average[None], average


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=(P("data"), P()), check_vma=False)
def mistake_switches_off_the_check(losses):
    """You got the numbers right, but with `check_vma=False` instead of `pcast`."""
    average, _ = lax.scan(smooth, 0.0, losses)
    return average[None], lax.pmin(average, "data")


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=(P("data"), P()))
def mistake_adds(losses):
    """You used `psum`, which adds the averages, instead of `pmin`."""
    start = lax.pcast(0.0, "data", to="varying")
    average, _ = lax.scan(smooth, start, losses)
    return average[None], lax.psum(average, "data")


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=(P("data"), P()))
def mistake_shares_the_carry(losses):
    """You took the `pmin` in every step, which mixes the averages of all runs."""

    def step(average, loss):
        return lax.pmin(smooth(average, loss)[0], "data"), None

    average, _ = lax.scan(step, 0.0, losses)
    return lax.pcast(average, "data", to="varying")[None], average
