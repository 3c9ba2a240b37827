"""Make one estimate with an error bar of the estimates of several devices.

Each device has estimated the same quantity from paths of its own, say a quantile of the
losses of a portfolio, for which no formula gives an error. Write the body of a
`shard_map` over "data": from the estimate of one device, float32 (), to the mean of all
and the standard error of that mean, both the same on every device.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def solution(estimate):
    """Return the mean, and the root of variance (n - 1 below) over n."""
    n = lax.axis_size("data")
    mean = lax.pmean(estimate, "data")
    variance = lax.psum((estimate - mean) ** 2, "data") / (n - 1)
    return mean, jnp.sqrt(variance / n)


def check(combine):
    """Raise AssertionError, with what to look at, unless `combine` is right.

    combine(estimate): float32 () of one device, to two replicated float32 ().
    """
    draw = np.random.default_rng(0)
    for n in 8, 4:
        for center in 0, 3, 4096:
            estimates = np.float32(center + draw.normal(size=n) / 4)
            mean, error = map(np.asarray, _run(combine, estimates))
            exact = estimates.astype(np.float64)
            assert np.isclose(mean, exact.mean(), rtol=1e-5, atol=1e-5), (
                f"the mean of the estimates is {exact.mean():.4f}; yours is {mean:.4f}"
            )
            scatter = exact.std(ddof=1)
            expected = scatter / n**0.5
            _compare(error, expected, scatter, n, center)
    print("The check passes.")


def _compare(error, expected, scatter, n, center):
    """Say what is wrong with the error bar of n estimates, where something is."""

    def near(number):
        return np.isclose(error, number, rtol=0.01)

    here = f"of {n} estimates near {center} the error bar is {expected:.4f}; yours is "
    assert near(expected) or center < 4096, (
        f"{here}{error:.4f}: float32 has seven digits, and squares of large numbers "
        "use them up; subtract the mean first"
    )
    assert not near(scatter), (
        f"{here}{error:.4f}, how far one estimate is from the others: their mean is "
        "more certain than that"
    )
    assert not near(expected * (1 - 1 / n) ** 0.5), (
        f"{here}{error:.4f}, too small: the mean was made of the same {n} numbers, so "
        f"only {n - 1} of the distances are free"
    )
    assert near(expected), (
        f"{here}{error:.4f}: by what is the variance of {n} numbers divided?"
    )


def _run(combine, estimates):
    """Return what `combine` makes of the estimates (n,), one on each of n devices."""

    def body(estimates):
        found = combine(estimates[0])
        assert isinstance(found, tuple) and len(found) == 2, (
            f"return two numbers, the mean and its error bar; yours: {found!r}"
        )
        assert all(np.shape(one) == () for one in found), (
            "the mean and the error bar are one number each"
        )
        return found

    with jax.set_mesh(jax.make_mesh((len(estimates),), ("data",))):
        placed = jax.device_put(estimates, P("data"))
        mapped = jax.shard_map(body, in_specs=P("data"), out_specs=P())
        try:
            return jax.jit(mapped)(placed)
        except ValueError as error:
            if "replication" not in str(error):
                raise
            raise AssertionError(
                "a device returns something of its own estimate only: one number has "
                "no scatter, so which collective is missing?"
            ) from None


def mistake_asks_one_estimate(estimate):
    """You took the standard deviation of one number in the body, which is 0."""
    return lax.pmean(estimate, "data"), estimate.std()


def mistake_returns_the_scatter(estimate):
    """You returned the standard deviation of the estimates, not that of their mean."""
    mean = lax.pmean(estimate, "data")
    n = lax.axis_size("data")
    return mean, jnp.sqrt(lax.psum((estimate - mean) ** 2, "data") / (n - 1))


def mistake_divides_by_n(estimate):
    """You divided the sum of squared distances by n instead of n - 1."""
    mean = lax.pmean(estimate, "data")
    variance = lax.pmean((estimate - mean) ** 2, "data")
    return mean, jnp.sqrt(variance / lax.axis_size("data"))


def mistake_subtracts_squares(estimate):
    """You subtracted squares of large numbers, which float32 rounds too much."""
    n = lax.axis_size("data")
    mean, squares = lax.pmean((estimate, estimate**2), "data")
    return mean, jnp.sqrt((squares - mean**2) / (n - 1))


def mistake_knows_eight_devices(estimate):
    """You wrote eight devices into the program instead of using `axis_size`."""
    mean = lax.pmean(estimate, "data")
    variance = lax.psum((estimate - mean) ** 2, "data") / 7
    return mean, jnp.sqrt(variance / 8)
