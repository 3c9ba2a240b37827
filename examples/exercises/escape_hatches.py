"""Give a host function what JAX needs of it: a batch in one call, and a gradient.

Given two NumPy functions, `host` and its derivative `slope`, which work on arrays of
any shape, number by number, return a function of one float32 number. Mapped by `vmap`,
it calls the host once for the whole batch; `grad` goes before or after `vmap`.
"""

import jax
import jax.numpy as jnp
import numpy as np


def solution(host, slope):
    """Return the function: a callback for the value, and one for the backward pass."""

    def call(f, x):
        result = jax.ShapeDtypeStruct(jnp.shape(x), jnp.float32)
        return jax.pure_callback(f, result, x, vmap_method="broadcast_all")

    @jax.custom_vjp
    def value(x):
        return call(host, x)

    value.defvjp(lambda x: (value(x), x), lambda x, ct: (ct * call(slope, x),))
    return value


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(host, slope): a function from () to (), float32.
    """
    calls = []

    def cube(x):
        calls.append(np.shape(x))
        return np.asarray(x) ** 3

    def slope(x):
        calls.append(np.shape(x))
        return 3 * np.asarray(x) ** 2

    f = make(cube, slope)
    assert callable(f), f"a function of one number is due; yours is {f}"
    x = jnp.arange(5.0)
    try:
        values = jax.block_until_ready(jax.vmap(f)(x))
        asked = len(calls)
        each = jax.vmap(jax.grad(f))(x)
        of_sum = jax.grad(lambda x: (2 * jax.vmap(f)(x)).sum())(x)
    except (NotImplementedError, ValueError) as error:
        first_line = str(error).splitlines()[0]
        raise AssertionError(f"JAX could not map or derive it: {first_line}") from None
    assert np.array_equal(values, x**3), "the values are not those of the host function"
    assert asked == 1, (
        f"a batch is one call of the host; your function made {asked}, "
        f"with arrays of shape {calls[0]}"
    )
    assert np.array_equal(each, 3 * x**2), (
        f"vmap(grad(f)) is not the slope: {np.asarray(each).tolist()}"
    )
    assert np.array_equal(of_sum, 6 * x**2), (
        "the gradient of twice the function is not twice its slope: "
        "the incoming gradient has to be multiplied in"
    )
    print("The check passes.")


def mistake_goes_one_by_one(host, slope):
    """You used `vmap_method="sequential"`, which calls the host for each number."""

    def call(f, x):
        return jax.pure_callback(f, x, x, vmap_method="sequential")

    value = jax.custom_vjp(lambda x: call(host, x))
    value.defvjp(lambda x: (value(x), x), lambda x, ct: (ct * call(slope, x),))
    return value


def mistake_hopes_for_a_derivative(host, slope):
    """You gave no derivative, and JAX cannot differentiate a `pure_callback`."""
    return lambda x: jax.pure_callback(host, x, x, vmap_method="broadcast_all")


def mistake_returns_the_slope(host, slope):
    """You returned the slope without multiplying it by the incoming gradient."""

    def call(f, x):
        return jax.pure_callback(f, x, x, vmap_method="broadcast_all")

    value = jax.custom_vjp(lambda x: call(host, x))
    value.defvjp(lambda x: (value(x), x), lambda x, ct: (call(slope, x),))
    return value
