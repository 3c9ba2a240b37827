"""Batch a quadratic form: as few operations as one row needs, wherever the rows live.

Given rows (m, n) and weights (n, n), return `row @ weights @ row` for every row, (m,).
The program may hold no loop, no more dot products than one row needs, and no
array larger than `rows`; rows sharded over eight devices give sharded answers.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.vmap.what_it_does import equations


def one_row(row, weights):
    """Return the quadratic form of one row: (n,) and (n, n) give ()."""
    return row @ weights @ row


def solution(rows, weights):
    """Return it for every row: rows are mapped, weights are shared."""
    return jax.vmap(one_row, in_axes=(0, None))(rows, weights)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(rows, weights): float32 (m, n) and (n, n) to (m,).
    """
    rows = np.arange(80, dtype=np.float32).reshape(16, 5) % 7
    weights = np.arange(25, dtype=np.float32).reshape(5, 5) % 3
    found = make(rows, weights)
    assert np.shape(found) == (16,), (
        f"16 rows need 16 answers, in an array of shape (16,); "
        f"yours has shape {np.shape(found)}"
    )
    expected = [row @ weights @ row for row in rows]
    assert np.array_equal(found, expected), "the numbers differ from the loop's"

    program = list(equations(jax.make_jaxpr(make)(rows, weights)))
    names = [equation.primitive.name for equation in program]
    for loop in ("scan", "while"):
        assert loop not in names, f"the rows are taken one by one, in a {loop}"
    dots = names.count("dot_general")
    assert dots <= 2, f"one row needs 2 dot_generals; your program has {dots}"
    largest = max(out.aval.size for equation in program for out in equation.outvars)
    assert largest <= rows.size, (
        f"no array need be larger than rows, {rows.size} numbers; one has {largest}: "
        "does every row meet every other row?"
    )

    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        found = make(jax.device_put(rows, P("data")), jax.device_put(weights, P()))
    assert jax.typeof(found).sharding.spec == P("data"), (
        "the rows were sharded over eight devices, the answers are not"
    )
    print("The check passes.")


def mistake_loops(rows, weights):
    """You looped over the rows: the program has two `dot_general`s for each row."""
    return jnp.stack([one_row(row, weights) for row in rows])


def mistake_takes_turns(rows, weights):
    """You used `lax.map`, which takes the rows one after the other, in a `scan`."""
    return lax.map(lambda row: one_row(row, weights), rows)


def mistake_meets_all_pairs(rows, weights):
    """You multiplied every row with every row, and kept only the diagonal."""
    return jnp.diagonal(rows @ weights @ rows.T)
