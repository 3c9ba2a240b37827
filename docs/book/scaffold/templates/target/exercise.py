"""TODO: a verb sentence that says what the reader writes.

Given `rows` `(m, n)`, return how far each number is below the highest of its row.
"""

import jax
import numpy as np


def solution(rows):
    """Return the highest number of each row less the row, `(m, n)`."""
    return jax.vmap(lambda row: row.max() - row)(rows)


def check(below_highest):
    """Raise AssertionError, with what to look at, unless `below_highest` is right.

    It takes and returns float32 `(m, n)`.
    """
    rows = np.arange(12, dtype=np.float32).reshape(3, 4) * 5 % 12
    found = below_highest(rows)
    assert np.shape(found) == rows.shape, (
        f"twelve numbers need twelve answers; yours have shape {np.shape(found)}"
    )
    assert np.array_equal(found, rows.max(axis=1, keepdims=True) - rows), (
        "the answers differ from the reference: "
        "is each number compared with the highest of its own row?"
    )
    print("The check passes.")


def mistake_takes_the_highest_of_all(rows):
    """You took `max` of all rows, outside of `vmap`."""
    return rows.max() - rows


def mistake_compares_columns(rows):
    """You mapped over the columns, which have other numbers."""
    return jax.vmap(lambda column: column.max() - column, in_axes=1, out_axes=1)(rows)
