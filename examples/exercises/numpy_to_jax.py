"""Move a NumPy function to JAX: the same answers at every edge, and under `jit`.

Given offers, whole numbers `(n,)` from 0 to 2**31 - 1 in any order, and an index `i`, 0
or more, return the number half-way between the i-th cheapest offer and the next one,
rounded down, or 0 if there is no next one.
"""

import jax
import jax.numpy as jnp
import numpy as np


def reference(offers, i):
    """Return the number half-way between the i-th cheapest offer and the next one.

    It is rounded down, and 0 if there is no next one.
    offers: whole numbers, (n,), from 0 to 2**31 - 1; i: an int, 0 or more.
    """
    offers = np.array(offers, dtype=int)
    offers.sort()
    try:
        return (offers[i] + offers[i + 1]) // 2
    except IndexError:
        return 0


def edges():
    """Return `{name: (offers, i)}`, an easy case and three at the edges."""
    return {
        "in order": ([2, 6, 8], 0),
        "no order": ([8, 2, 6], 0),
        "past the end": ([2, 6, 8], 2),
        "large": ([2**31 - 3, 2**31 - 1], 0),
    }


def solution(offers, i):
    """Use a sorted copy, an addition that cannot overflow, and `where` for `if`."""
    offers = jnp.sort(offers)
    low, high = offers[i], offers[i + 1]
    return jnp.where(i + 1 < offers.size, low + (high - low) // 2, 0)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(offers, i): int32 `(n,)` and an int, or an int32 scalar under jit, to a number.
    """
    looks = {
        "in order": "look at the arithmetic",
        "no order": "which array is sorted?",
        "past the end": "what does an index past the end read?",
        "large": "which of your numbers passes 2**31?",
    }
    for jitted in (False, True):
        how = "under jit" if jitted else "without jit"
        for name, (offers, i) in edges().items():
            given = np.array(offers, np.int32), i
            expected = int(reference(*given))
            try:
                found = (jax.jit(make) if jitted else make)(*given)
            except jax.errors.ConcretizationTypeError:
                asked = "Python asks for a value that jit does not know when it traces"
                raise AssertionError(f"{name}, {how}: {asked}") from None
            assert np.shape(found) == () and found == expected, (
                f"{name}, {how}: for {offers} and {i} the answer is {expected}, "
                f"yours is {found}; {looks[name]}"
            )
    print("The check passes.")


def mistake_sorts_in_place(offers, i):
    """You called `sort()` and dropped what it returned: in JAX, a sorted copy."""
    offers = jnp.array(offers)
    offers.sort()
    low, high = offers[i], offers[i + 1]
    return jnp.where(i + 1 < offers.size, low + (high - low) // 2, 0)


def mistake_waits_for_an_error(offers, i):
    """You waited for an `IndexError`, but JAX reads the last number instead."""
    offers = jnp.sort(offers)
    try:
        return offers[i] + (offers[i + 1] - offers[i]) // 2
    except IndexError:
        return 0


def mistake_adds_first(offers, i):
    """You added before halving: the sum of two int32 can pass 2**31, and wraps."""
    offers = jnp.sort(offers)
    middle = (offers[i] + offers[i + 1]) // 2
    return jnp.where(i + 1 < offers.size, middle, 0)


def mistake_asks_in_python(offers, i):
    """You tested `i` with `if`, but it has no value while `jit` traces."""
    if i + 1 >= len(offers):
        return 0
    offers = jnp.sort(offers)
    return offers[i] + (offers[i + 1] - offers[i]) // 2
