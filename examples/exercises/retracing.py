"""Compile once for many calls: lists of any length, numbers of any kind.

Given a function of one number, return a function `total(numbers, scale)`: the sum of
the function over 1 to 8 numbers, times `scale`. It may trace the function only once,
however long the list is, and whether it holds ints or floats.
"""

import jax
import jax.numpy as jnp
import numpy as np


def padded(numbers):
    """Return `numbers` as float32 (8,), zeros at its end, and which are real."""
    full = np.zeros(8, np.float32)
    full[: len(numbers)] = numbers
    return full, np.arange(8) < len(numbers)


def solution(f):
    """Return `total`: one shape, one dtype, one jitted function, made once."""

    @jax.jit
    def masked(full, real, scale):
        return jnp.where(real, jax.vmap(f)(full), 0).sum() * scale

    return lambda numbers, scale: masked(*padded(numbers), np.float32(scale))


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(f): a function of one number to `total(numbers, scale)`, which gives a number.
    """
    traced = 0

    def f(x):
        nonlocal traced
        traced += 1
        return 2 * x + 1

    total = make(f)
    assert callable(total), (
        f"make(f) returns a function total(numbers, scale), not {total!r}"
    )
    calls = [([1, 2], 3), ([1.0, 2.0, 3.0], 3.0), ([5], np.float32(2)), ([4, 0], 1)]
    for numbers, scale in calls:
        expected = sum(2 * x + 1 for x in numbers) * scale
        found = total(numbers, scale)
        assert np.shape(found) == () and found == expected, (
            f"total({numbers}, {scale}) is {expected}, yours is {found}: "
            "does what you added to the list count?"
        )
    assert traced == 1, (
        f"Python ran the function {traced} times in {len(calls)} calls, not once: "
        "what differs between the calls that reach jit?"
    )
    print("The check passes.")


def mistake_jits_it_as_it_is(f):
    """You did not pad the list, so each length is a new shape, and a new trace."""
    summed = jax.jit(lambda numbers, scale: jax.vmap(f)(numbers).sum() * scale)
    return lambda numbers, scale: summed(np.array(numbers, np.float32), scale)


def mistake_makes_it_anew(f):
    """You called `jax.jit` inside `total`, so each call traces a new function."""

    def total(numbers, scale):
        full, real = padded(numbers)
        return jax.jit(lambda x: jnp.where(real, jax.vmap(f)(x), 0).sum())(full) * scale

    return total


def mistake_forgets_the_number(f):
    """You passed 3, 3.0 and `np.float32(2)` as they are: each kind is a new trace."""

    @jax.jit
    def masked(full, real, scale):
        return jnp.where(real, jax.vmap(f)(full), 0).sum() * scale

    return lambda numbers, scale: masked(*padded(numbers), scale)


def mistake_sums_the_padding(f):
    """You added the function of the padding too, as if the function of 0 were 0."""

    @jax.jit
    def summed(full, scale):
        return jax.vmap(f)(full).sum() * scale

    return lambda numbers, scale: summed(padded(numbers)[0], np.float32(scale))
