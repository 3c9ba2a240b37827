"""Clip the gradient of each example, then average: the first half of private training.

Given parameters {"w": (n,), "b": ()}, inputs (m, n), targets (m,) and a limit, return
the mean over the examples of their gradients, each one first scaled down to a norm of
`limit` where it is longer. The norm is taken over all parameters together.

Source: Abadi et al., "Deep Learning with Differential Privacy", 2016, algorithm 1.
"""

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, x, y):
    """Return half of the squared error of one example: (n,) and () give ()."""
    return (x @ params["w"] + params["b"] - y) ** 2 / 2


def clipped(params, x, y, limit):
    """Return the gradient of one example, no longer than `limit`."""
    gradient = jax.grad(loss)(params, x, y)
    norm = jnp.sqrt(sum(jnp.vdot(leaf, leaf) for leaf in jax.tree.leaves(gradient)))
    factor = limit / jnp.maximum(norm, limit)
    return jax.tree.map(lambda leaf: factor * leaf, gradient)


def solution(params, x, y, limit):
    """Return the mean of the clipped gradients."""
    each = jax.vmap(clipped, in_axes=(None, 0, 0, None))(params, x, y, limit)
    return jax.tree.map(lambda leaf: leaf.mean(axis=0), each)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(params, x, y, limit): a dictionary of the shapes of `params`.
    """
    params = {"w": jnp.zeros(2), "b": jnp.zeros(())}
    x = jnp.array([[2.0, 2.0], [-2.0, 2.0], [2.0, -2.0], [-2.0, -2.0]])
    for what, y in (
        ("where no gradient is longer than the limit", [1, -1, 1, 1]),
        ("where one gradient is twice as long as the limit", [1, -1, 2, 1]),
        ("where long gradients point in opposite directions", [4, 4, 4, 4]),
        ("where one gradient is shorter than the limit", [0.5, 1, 1, 1]),
        ("where one gradient is zero", [0, 4, 1, 2]),
    ):
        found = make(params, x, jnp.float32(y), 3.0)
        assert isinstance(found, dict) and found.keys() == params.keys(), (
            f"a gradient for w and one for b are due; yours is {found}"
        )
        away = np.float32(y)  # that far off; the gradient is 3 times as long
        factors = -away * 3 / np.maximum(3 * abs(away), 3) / 4
        expected = {"w": factors @ np.asarray(x), "b": factors.sum()}
        for name, value in expected.items():
            assert np.array_equal(found[name], value), (
                f"{what}, the mean for {name} is {value.tolist()}; "
                f"yours is {np.asarray(found[name]).tolist()}"
            )


def mistake_clips_the_mean(params, x, y, limit):
    """Take the gradient of the mean, which is one call of `grad`, and clip that."""

    def mean_loss(p):
        return jax.vmap(loss, in_axes=(None, 0, 0))(p, x, y).mean()

    gradient = jax.grad(mean_loss)(params)
    norm = jnp.sqrt(sum(jnp.vdot(leaf, leaf) for leaf in jax.tree.leaves(gradient)))
    return jax.tree.map(lambda leaf: leaf * limit / jnp.maximum(norm, limit), gradient)


def mistake_clips_each_parameter(params, x, y, limit):
    """Clip w and b on their own: inside `tree.map` each leaf has a norm, too."""

    def one(x, y):
        gradient = jax.grad(loss)(params, x, y)
        norms = jax.tree.map(lambda leaf: jnp.sqrt(jnp.vdot(leaf, leaf)), gradient)
        return jax.tree.map(
            lambda leaf, norm: leaf * limit / jnp.maximum(norm, limit), gradient, norms
        )

    return jax.tree.map(lambda leaf: leaf.mean(axis=0), jax.vmap(one)(x, y))


def mistake_divides_by_the_norm(params, x, y, limit):
    """Scale every gradient to the limit, short ones and zero ones as well."""

    def one(x, y):
        gradient = jax.grad(loss)(params, x, y)
        norm = jnp.sqrt(sum(jnp.vdot(leaf, leaf) for leaf in jax.tree.leaves(gradient)))
        return jax.tree.map(lambda leaf: leaf * limit / norm, gradient)

    return jax.tree.map(lambda leaf: leaf.mean(axis=0), jax.vmap(one)(x, y))
