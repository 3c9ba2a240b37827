"""Compute how far a network is from the heat equation, at many points at once.

Given `u(params, t, x)`, which takes one time and one place and returns one temperature,
and times and places `(n,)`, return du/dt - d2u/dx2 at each point, `(n,)`.
"""

import jax
import jax.numpy as jnp
import numpy as np


def solution(u, params, t, x):
    """Return the residual of the heat equation at each of n points, `(n,)`."""

    def residual(t, x):  # at one point
        u_t = jax.grad(u, argnums=1)(params, t, x)
        u_xx = jax.grad(jax.grad(u, argnums=2), argnums=2)(params, t, x)
        return u_t - u_xx

    return jax.vmap(residual)(t, x)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(u, params, t, x): a function, a dict, `(n,)` and `(n,)`, to `(n,)`.
    """

    def u(params, t, x):
        assert np.shape(t) == np.shape(x) == (), (
            f"u takes one time and one place; yours gave it shapes "
            f"{np.shape(t)} and {np.shape(x)}"
        )
        return params["a"] * t**2 * x**3 + params["b"] @ jnp.stack([t, x])

    params = {"a": jnp.float32(2), "b": jnp.array([3.0, 5.0])}
    t, x = jnp.array([1.0, 2.0, 0.0, 3.0]), jnp.array([1.0, -1.0, 2.0, 1.0])
    try:
        found = make(u, params, t, x)
    except (TypeError, ValueError) as error:
        first_line = str(error).splitlines()[0]
        raise AssertionError(f"JAX could not map or derive it: {first_line}") from None
    assert np.shape(found) == (4,), (
        f"four points have one residual for each point, in an array of shape (4,); "
        f"yours returned {found if found is ... else np.shape(found)}"
    )
    u_t, u_xx = 4 * t * x**3 + 3, 12 * t**2 * x
    assert np.array_equal(found, u_t - u_xx), (
        f"at these points du/dt is {u_t.tolist()} and d2u/dx2 is {u_xx.tolist()}; "
        f"your differences are {np.asarray(found).tolist()}"
    )
    print("The check passes.")


def mistake_counts_arguments_from_t(u, params, t, x):
    """You counted the arguments from `t`, but argument 0 is `params`."""

    def residual(t, x):
        u_t = jax.grad(u, argnums=0)(params, t, x)["a"]
        return u_t - jax.grad(jax.grad(u, argnums=1), argnums=1)(params, t, x)

    return jax.vmap(residual)(t, x)


def mistake_squares_the_slope(u, params, t, x):
    """You squared the first derivative in x instead of taking the second."""

    def residual(t, x):
        u_t, u_x = jax.grad(u, argnums=(1, 2))(params, t, x)
        return u_t - u_x**2

    return jax.vmap(residual)(t, x)


def mistake_maps_the_parameters(u, params, t, x):
    """You mapped `params` too, but they have no axis of points."""

    def residual(params, t, x):
        u_t = jax.grad(u, argnums=1)(params, t, x)
        return u_t - jax.grad(jax.grad(u, argnums=2), argnums=2)(params, t, x)

    return jax.vmap(residual)(params, t, x)


def mistake_differentiates_the_batch(u, params, t, x):
    """You took Jacobians of the batch: every output with respect to every point."""
    mapped = jax.vmap(u, in_axes=(None, 0, 0))
    u_t = jax.jacfwd(mapped, argnums=1)(params, t, x)
    return u_t - jax.jacfwd(jax.jacfwd(mapped, argnums=2), argnums=2)(params, t, x)
