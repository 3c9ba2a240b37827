"""Take the cumulative sum of an array that is sharded over devices.

Write the body of a `shard_map` over "data": it gets a shard and returns the shard of
the cumulative sum of the whole array. Each device needs the total of those before it;
three sends of one number each are enough for eight devices.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends


def solution(x):
    """Return the shard of the cumulative sum, float32 (k,), of the shard, (k,).

    After the step with distance k, `running` is the total of 2 k devices: this one and
    those before it. Devices that receive nothing get zeros, which add nothing.
    """
    running = x.sum()
    for k in (1, 2, 4):
        running += lax.ppermute(running, "data", [(d, d + k) for d in range(8 - k)])
    return jnp.cumsum(x) + running - x.sum()


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x): float32 (3,), on each of eight devices, to float32 (3,).
    """
    numbers = np.arange(24, dtype=np.float32) * 17 % 29 + 1

    def body(x):
        answer = make(x)
        assert isinstance(answer, jax.Array) and answer.shape == (3,), (
            "the shard of the cumulative sum should have shape (3,); "
            f"yours has {np.shape(answer) or type(answer).__name__}"
        )
        return answer

    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        x = jax.device_put(numbers, P("data"))
        mapped = jax.shard_map(body, in_specs=P("data"), out_specs=P("data"))
        found = np.asarray(jax.jit(mapped)(x))
        moving = sends(jax.jit(mapped).lower(x))
    wrong = np.flatnonzero(found != np.cumsum(numbers))
    assert not len(wrong), (
        f"the first wrong sum is number {wrong[0]}, on device {wrong[0] // 3}: it is "
        f"{found[wrong[0]]:g} and should be {np.cumsum(numbers)[wrong[0]]:g}; "
        "which devices are in it?"
    )
    moved = sum(sent.moved * sent.times for sent in moving)
    assert moved <= 3 * 4, f"three numbers are 12 bytes; yours sends {moved}"
    print("The check passes.")


def mistake_adds_its_own_only(x):
    """You used `cumsum` alone, which sees only the shard of its device."""
    return jnp.cumsum(x)


def mistake_asks_one_neighbor(x):
    """You added the total of the device before this one, but not of those before it."""
    shift = [(d, d + 1) for d in range(7)]
    return jnp.cumsum(x) + lax.ppermute(x.sum(), "data", shift)


def mistake_goes_around(x):
    """You closed the ring, so the first devices added the totals of the last."""
    running = x.sum()
    for k in (1, 2, 4):
        running += lax.ppermute(running, "data", [(d, (d + k) % 8) for d in range(8)])
    return jnp.cumsum(x) + running - x.sum()


def mistake_counts_itself_twice(x):
    """You did not subtract the device's own total, so it counts twice."""
    running = x.sum()
    for k in (1, 2, 4):
        running += lax.ppermute(running, "data", [(d, d + k) for d in range(8 - k)])
    return jnp.cumsum(x) + running


def mistake_gathers_everything(x):
    """You gathered the whole array, where three sends of one number are enough."""
    sums = jnp.cumsum(lax.all_gather(x, "data", tiled=True))
    return lax.dynamic_slice(sums, (3 * lax.axis_index("data"),), (3,))
