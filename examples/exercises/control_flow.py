"""Divide where it is allowed: one over `x`, zero at zero, and a gradient that survives.

Given one number `x`, float32 (), return 1 / x, and 0 where `x` is 0.  The function is
mapped over a batch, jitted, and differentiated for every example: the derivative is
-1 / x**2, and 0 where `x` is 0.
"""

import jax
import jax.numpy as jnp
import numpy as np

NUMBERS = np.array([-2, -1, 0, 0.5, 1, 4], np.float32)


def solution(x):
    """Return the inverse of `x`: the division never sees a zero."""
    divisor = jnp.where(x == 0, 1.0, x)
    return jnp.where(x == 0, 0.0, 1 / divisor)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x): float32 () to ().
    """
    try:
        found = jax.jit(jax.vmap(make))(NUMBERS)
    except jax.errors.TracerBoolConversionError as error:
        message = "Python asks all examples for one truth; select for each instead"
        raise AssertionError(message) from error
    except TypeError as error:
        message = f"each example returns one number; yours: {error}"
        raise AssertionError(message.splitlines()[0]) from error
    assert np.shape(found) == NUMBERS.shape, (
        f"six numbers have six inverses, (6,); yours have shape {np.shape(found)}"
    )
    allowed = NUMBERS != 0
    expected = np.divide(1, NUMBERS, where=allowed, out=np.zeros_like(NUMBERS))
    assert np.array_equal(found, expected), (
        f"the inverses of {NUMBERS} are {expected}; yours are {found}"
    )
    slopes = jax.jit(jax.vmap(jax.grad(make)))(NUMBERS)
    assert not np.isnan(slopes).any(), (
        "a derivative is NaN: the division by zero was computed, and 0 times its "
        "infinite derivative is NaN; what may the division see?"
    )
    assert np.array_equal(slopes, -(expected**2)), (
        f"the derivatives are {-(expected**2)}; yours are {slopes}"
    )
    print("The check passes.")


def mistake_asks(x):
    """You used Python's `if`, which cannot test a value while JAX traces."""
    return 1 / x if x != 0 else 0.0


def mistake_throws_away(x):
    """You divided before you selected: 0 times an infinite derivative is NaN."""
    return jnp.where(x == 0, 0.0, 1 / x)


def mistake_adds_a_little(x):
    """You added a small number to the divisor, which changes the answers."""
    return 1 / (x + 1e-6)
