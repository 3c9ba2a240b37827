"""Leave one out, for every lane: the largest of the numbers that are left.

Given x, float32 (k,), and indices, int (m,), return for each index the largest number
of x without the one at that index, (m,).  Equal numbers are different numbers: without
one of two largest, the other is the answer.  No array may be larger than x and indices
together, and nothing may be looped over.
"""

import jax
import jax.numpy as jnp
import numpy as np

from examples.vmap.what_it_does import equations


def solution(x, indices):
    """Return them from two numbers: the largest, and the largest without that one."""
    top = x.argmax()
    second = x.at[top].set(-jnp.inf).max()
    return jnp.where(indices == top, second, x[top])


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(x, indices): float32 (k,) and int (m,) to (m,).
    """
    x = jnp.array([2, 7, 1, -3, 7, 0, 5], jnp.float32)
    single = jnp.array([-2, -9, -1, -3, -4], jnp.float32)
    for numbers in (x, single):
        indices = np.array([4, 0, 2, 1, 4, 3, 2, 1, 0, 4, 1])
        found = make(numbers, indices)
        assert np.shape(found) == indices.shape, (
            f"11 indices need 11 answers, in shape (11,); yours is {np.shape(found)}"
        )
        expected = np.array([np.delete(numbers, i).max() for i in indices])
        assert np.array_equal(found, expected), (
            f"leaving {indices} of {numbers} out, one at a time, leaves the largest "
            f"{expected}; yours are {found}"
        )
    program = list(equations(jax.make_jaxpr(make)(x, indices)))
    loops = {"scan", "while"} & {equation.primitive.name for equation in program}
    assert not loops, f"the indices are taken one by one, in a {loops.pop()}"
    largest = max(out.aval.size for equation in program for out in equation.outvars)
    assert largest <= x.size + indices.size, (
        f"an array has {largest} numbers, where x and indices have "
        f"{x.size + indices.size}: is x copied for every lane?"
    )


def mistake_copies(x, indices):
    """Write it for one index, and map it: every lane gets an x of its own."""
    return jax.vmap(lambda i: x.at[i].set(-jnp.inf).max())(indices)


def mistake_masks(x, indices):
    """Trade the scatter for a mask, which is as large as the copies were."""
    return jnp.where(indices[:, None] == jnp.arange(x.size), -jnp.inf, x).max(axis=1)


def mistake_scatters_all(x, indices):
    """Scatter once, as for counting: all lanes leave their number out of one x."""
    left = x.at[indices].set(-jnp.inf).max()
    return jnp.full(indices.shape, left)


def mistake_forgets_ties(x, indices):
    """Take the second largest value for the answer, wherever the largest is met."""
    second = jnp.where(x == x.max(), -jnp.inf, x).max()
    return jnp.where(x[indices] == x.max(), second, x.max())
