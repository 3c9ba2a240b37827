"""Leave one out, for every index: the largest of the numbers that are left.

Given x, float32 (k,), and indices, int (m,), return for each index the largest number
of x without the one at that index, (m,).  Equal numbers are different numbers: without
one of two largest, the other is the answer.  The temporaries of the compiled program
may take a few times the bytes of x and indices, and nothing may be looped over.
"""

import jax
import jax.numpy as jnp
import numpy as np

from examples.tools.text import bytes_text
from examples.vmap.control_flow import primitives
from examples.vmap.memory import temporaries


def solution(x, indices):
    """Use two numbers: the largest, and the largest of the others."""
    top = x.argmax()
    second = x.at[top].set(-jnp.inf).max()
    return jnp.where(indices == top, second, x[top])


def check(largest_without):
    """Raise AssertionError, with what to look at, unless it is right.

    largest_without(x, indices): float32 (k,) and int (m,) to (m,).
    """
    x = jnp.array([2, 7, 1, -3, 7, 0, 5], jnp.float32)
    single = jnp.array([-2, -9, -1, -3, -4], jnp.float32)
    for numbers in (x, single):
        indices = np.array([4, 0, 2, 1, 4, 3, 2, 1, 0, 4, 1])
        found = largest_without(numbers, indices)
        assert np.shape(found) == indices.shape, (
            f"11 indices need 11 answers, in shape (11,); yours is {np.shape(found)}"
        )
        expected = np.array([np.delete(numbers, i).max() for i in indices])
        assert np.array_equal(found, expected), (
            f"leaving {indices} of {numbers} out, one at a time, leaves the largest "
            f"{expected}; yours are {found}"
        )
    long = jax.ShapeDtypeStruct((10_000,), "float32")
    many = jax.ShapeDtypeStruct((1000,), "int32")
    loops = {"scan", "while"} & set(primitives(largest_without, long, many))
    assert not loops, f"the indices are taken one by one, in a {loops.pop()}"
    held = temporaries(largest_without, long, many)
    assert held < 500_000, (
        f"the temporaries take {bytes_text(held)}, where x and indices take 44 kB: "
        "is x copied for every index?"
    )
    print("The check passes.")


def mistake_copies(x, indices):
    """You mapped a function of one index, so each index has its own copy of `x`."""
    return jax.vmap(lambda i: x.at[i].set(-jnp.inf).max())(indices)


def mistake_masks(x, indices):
    """You masked `x` for each index, which takes as much memory as copies of `x`."""
    return jnp.where(indices[:, None] == jnp.arange(x.size), -jnp.inf, x).max(axis=1)


def mistake_scatters_all(x, indices):
    """You removed the numbers at all indices from one `x`, not one at a time."""
    left = x.at[indices].set(-jnp.inf).max()
    return jnp.full(indices.shape, left)


def mistake_forgets_ties(x, indices):
    """You left out all numbers equal to the largest, not only the one at the index."""
    second = jnp.where(x == x.max(), -jnp.inf, x).max()
    return jnp.where(x[indices] == x.max(), second, x.max())
