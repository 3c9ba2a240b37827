"""Rank the rows of a batch, with a function that is written for one row.

Given one score, a number, return how many rows come before it: those with a larger
score, and of equal scores those that stand earlier. The axis is called "rows"; it
may be the lanes of a `vmap` of any length, or the devices of a mesh.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding


def solution(score):
    """Return the place of one row: compare it with all rows, and count."""
    scores = lax.all_gather(score, "rows")
    earlier = jnp.arange(lax.axis_size("rows")) < lax.axis_index("rows")
    return ((scores > score) | (scores == score) & earlier).sum()


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(score): one number, float32, to a whole number, from 0 for the best row.
    """

    def place(score):
        answer = make(score)
        assert getattr(answer, "shape", None) == (), (
            f"for each row one number is due, its place; yours returned {answer}"
        )
        return answer

    lanes = jax.vmap(place, axis_name="rows")
    for scores in ([3, 1, 4, 2, 5], [3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 2, 7, 2, 7, 7]):
        best_first = np.argsort(-np.array(scores), stable=True)
        expected = np.empty(len(scores), int)
        expected[best_first] = np.arange(len(scores))
        found = lanes(np.float32(scores))
        assert np.array_equal(found, expected), (
            f"the scores {scores} have the places {expected.tolist()}; "
            f"yours are {found.tolist()}"
        )

    mesh = jax.make_mesh((8,), ("rows",))
    scores = jax.device_put(np.arange(8.0) % 5, NamedSharding(mesh, P("rows")))
    spread = jax.shard_map(
        lambda block: place(block[0])[None],
        mesh=mesh,
        in_specs=P("rows"),
        out_specs=P("rows"),
    )
    assert np.array_equal(jax.jit(spread)(scores), lanes(np.asarray(scores))), (
        "on eight devices the places differ from those of eight lanes"
    )


def mistake_shares_places(score):
    """Count the larger scores: who is equal shares a place."""
    return (lax.all_gather(score, "rows") > score).sum()


def mistake_sorts_instead_of_ranking(score):
    """Take `argsort` for a ranking: it says who is at a place, not who has which."""
    best_first = jnp.argsort(-lax.all_gather(score, "rows"))
    return best_first[lax.axis_index("rows")]


def mistake_adds_without_asking(score):
    """Compare with the sum of all rows, since a collective is a sum."""
    return (lax.psum(score, "rows") - score < score).astype(int)
