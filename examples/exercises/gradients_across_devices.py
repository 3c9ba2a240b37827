"""Take the gradient of a weighted mean, of examples on several devices.

Write `weighted_grads(w, x, weights)`, the body of a `shard_map` over "data": w is a
number, (), the same on every device, and x and weights, (n,), are the examples of one
device.  The loss of an example is (w * x - 1)**2.  Return the gradient with respect to
w, (), of the sum of weight times loss over all examples of all devices, divided by the
sum of all weights.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def solution(w, x, weights):
    """Make one number of all losses, from two sums; differentiate it."""

    def weighted_mean(w):
        losses = (w * x - 1) ** 2
        above = lax.psum((weights * losses).sum(), "data")
        below = lax.psum(weights.sum(), "data")
        return above / below

    return jax.grad(weighted_mean)(w)


def check(weighted_grads):
    """Raise AssertionError, with what to look at, unless the body is right.

    weighted_grads(w, x, weights): float32 (), (n,) and (n,) of one device, to ().
    """

    def body(w, x, weights):
        answer = weighted_grads(w, x, weights)
        assert isinstance(answer, jax.Array) and answer.shape == (), (
            "the gradient of one number w is one number, of shape (); "
            f"yours is {_named(answer)}"
        )
        assert not jax.typeof(answer).manual_axis_type.varying, (
            "the gradient should be the same on every device, and by its type, "
            f"{jax.typeof(answer)}, it is not: of what is it the gradient?"
        )
        return answer

    counts = [n for n in (1, 2, 4, 8) if n <= jax.device_count()]
    for devices, each in [(counts[-1], 3), (counts[-1], 1), (counts[0], 4)]:
        n = devices * each
        x = np.arange(n, dtype=np.float32) % 5 + 1
        weights = np.arange(n, dtype=np.float32) ** 2 % 7 + 1
        w = np.float32(2)
        mesh = jax.make_mesh((devices,), ("data",), devices=jax.devices()[:devices])
        mapped = jax.shard_map(
            body, in_specs=(P(), P("data"), P("data")), out_specs=P()
        )
        with jax.set_mesh(mesh), jax.default_matmul_precision("highest"):
            placed = jax.device_put((x, weights), P("data"))
            found = float(jax.jit(mapped)(jax.device_put(w, P()), *placed))
        of_each = 2 * x * (w * x - 1)
        right = (weights * of_each).sum() / weights.sum()
        case = f"for {n} examples on {devices} devices"
        assert devices == 1 or not np.isclose(found, devices * right, rtol=1e-3), (
            f"{case}, your gradient is {devices} times that of the weighted mean: who "
            "has added it up before you do? Ask of the loss: are there "
            f"{devices} of it, or one?"
        )
        assert np.isclose(found, right, rtol=1e-3), (
            f"{case}, the gradient is {right:.3f}, yours is {found:.3f}: is it the sum "
            "of all that stands above, divided by the sum of all weights?"
        )
    print("The check passes.")


def _named(found):
    """Say what `found` is: of an array, its shape."""
    if isinstance(found, jax.Array | np.ndarray):
        return f"an array of shape {found.shape}"
    return f"something of type {type(found).__name__}"


def mistake_takes_the_mean_of_means(w, x, weights):
    """You took the mean of the devices' means, as if their weights had equal sums."""

    def mean_of_means(w):
        mine = (weights * (w * x - 1) ** 2).sum() / weights.sum()
        return lax.pmean(mine, "data")

    return jax.grad(mean_of_means)(w)


def mistake_adds_up_twice(w, x, weights):
    """You called `psum` on the gradient, which `grad` had added up over the devices."""
    below = lax.psum(weights.sum(), "data")

    def mine(w):
        return (weights * (w * x - 1) ** 2).sum() / below

    return lax.psum(jax.grad(mine)(w), "data")


def mistake_divides_by_its_own(w, x, weights):
    """You divided by the sum of one device's weights, not by that of all."""

    def mine(w):
        return (weights * (w * x - 1) ** 2).sum() / weights.sum()

    return jax.grad(mine)(w)


def mistake_divides_by_the_count(w, x, weights):
    """You divided by the number of examples, not by the sum of their weights."""

    def mean(w):
        return lax.pmean(jnp.mean(weights * (w * x - 1) ** 2), "data")

    return jax.grad(mean)(w)


def mistake_keeps_its_own(w, x, weights):
    """You let w vary, so each device has the gradient of its own part of the sum."""
    own_w = lax.pcast(w, "data", to="varying")
    below = lax.psum(weights.sum(), "data")
    return jax.grad(lambda w: (weights * (w * x - 1) ** 2).sum() / below)(own_w)
