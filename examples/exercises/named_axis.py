"""Rank the examples of a batch, with a function that is written for one example.

Given one score, a number, return how many examples come before it: those with a larger
score, and of equal scores those that stand earlier. The axis is called "batch"; it may
be the mapped axis of a `vmap`, of any length, or the devices of a mesh.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def solution(score):
    """Return the place of one example: compare it with all of them, and count."""
    scores = lax.all_gather(score, "batch")
    earlier = jnp.arange(lax.axis_size("batch")) < lax.axis_index("batch")
    return ((scores > score) | (scores == score) & earlier).sum()


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(score): one number, float32, to a whole number, from 0 for the best example.
    """

    def place(score):
        answer = make(score)
        assert getattr(answer, "shape", None) == (), (
            f"for each example one number is due, its place; yours returned {answer}"
        )
        return answer

    mapped = jax.vmap(place, axis_name="batch")
    for scores in ([3, 1, 4, 2, 5], [3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 2, 7, 2, 7, 7]):
        best_first = np.argsort(-np.array(scores), stable=True)
        expected = np.empty(len(scores), int)
        expected[best_first] = np.arange(len(scores))
        found = mapped(np.float32(scores))
        assert np.array_equal(found, expected), (
            f"the scores {scores} have the places {expected.tolist()}; "
            f"yours are {found.tolist()}"
        )

    scores = np.arange(8, dtype=np.float32) % 5
    with jax.set_mesh(jax.make_mesh((8,), ("batch",))):
        spread = jax.shard_map(
            lambda shard: place(shard[0])[None],
            in_specs=P("batch"),
            out_specs=P("batch"),
        )
        found = jax.jit(spread)(jax.device_put(scores, P("batch")))
    assert np.array_equal(found, mapped(scores)), (
        "on eight devices the places differ from those under `vmap`"
    )
    print("The check passes.")


def mistake_shares_places(score):
    """You counted only larger scores, so equal scores share a place."""
    return (lax.all_gather(score, "batch") > score).sum()


def mistake_sorts_instead_of_ranking(score):
    """You used `argsort`, which names the example at a place, not its place."""
    best_first = jnp.argsort(-lax.all_gather(score, "batch"))
    return best_first[lax.axis_index("batch")]


def mistake_adds_without_asking(score):
    """You compared the score with the sum of the others, not with each of them."""
    return (lax.psum(score, "batch") - score < score).astype(int)
