"""Average a loss over the real tokens of all devices, where each has another number.

Write the mean loss that a `shard_map` over "data" differentiates: each device has eight
sequences of its own, padded to one length, and a mask that is False on the padding.
The mean is over the real tokens of the whole batch, as on one device.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def solution(losses, real):
    """Add the losses of real tokens, and their number, over the devices; divide."""
    total = jnp.where(real, losses, 0).sum()
    total, count = lax.psum((total, real.sum()), "data")
    return total / count


def check(mean_loss):
    """Raise AssertionError, with what to look at, unless `mean_loss` is right.

    mean_loss(losses, real): float32 and bool (8, 6), of one device, to a number.
    """
    lengths = np.arange(64) * 5 % 7  # real tokens of each sequence, none in some
    lengths[:8] = 1  # the first device has few
    real = np.arange(6) < lengths[:, None]
    losses = np.arange(384, dtype=np.float32).reshape(64, 6) % 11

    def step(w, losses, real):
        def loss(w):
            mean = mean_loss(w * losses, real)
            assert isinstance(mean, jax.Array) and mean.shape == (), (
                f"the mean loss is one number; yours: {np.shape(mean) or mean!r}"
            )
            return mean

        return jax.value_and_grad(loss)(w)

    specs = (P(), P("data"), P("data"))
    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        given = jax.device_put((np.float32(1), losses, real), specs)
        mapped = jax.shard_map(step, in_specs=specs, out_specs=P(), check_vma=True)
        try:
            value, slope = jax.jit(mapped)(*given)
        except ValueError as error:
            if "replication" in str(error):
                raise AssertionError(
                    "each device returns a mean of its own: which collective adds them?"
                ) from None
            raise
    expected = losses[real].mean()
    assert not np.isnan(value), "the mean is NaN: has every device real tokens?"
    assert not np.isclose(value, 8 * expected, rtol=1e-4), (
        "the mean is eight times too large: are the tokens of all devices counted?"
    )
    assert np.isclose(value, expected, rtol=1e-5), (
        f"the mean over {real.sum()} real tokens is {expected:.4f}; yours is "
        f"{value:.4f}: does each token count as much as any other?"
    )
    assert np.isclose(slope, expected, rtol=1e-5), (
        f"the mean is right, and its slope should be {expected:.4f}, not {slope:.4f}"
    )
    print("The check passes.")


def mistake_averages_the_means(losses, real):
    """You averaged the means, so tokens of a device that has few of them count more."""
    total = jnp.where(real, losses, 0).sum()
    return lax.pmean(total / real.sum(), "data")


def mistake_averages_the_padding(losses, real):
    """You set the losses of padding to 0, but divided by the padding too."""
    return lax.pmean(jnp.where(real, losses, 0).mean(), "data")


def mistake_divides_by_its_own_tokens(losses, real):
    """You divided the sum of all devices by the number of one device's tokens."""
    total = lax.psum(jnp.where(real, losses, 0).sum(), "data")
    return lax.pmean(total / real.sum(), "data")


def mistake_forgets_the_other_devices(losses, real):
    """You returned the mean of one device, without a `psum`."""
    return jnp.where(real, losses, 0).sum() / real.sum()
