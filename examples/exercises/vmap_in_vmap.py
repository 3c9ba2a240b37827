"""Score every document for every query, documents first.

Given `score(query, document)`, which returns a number or an array, write
`every(queries, documents)`: its first axis is the documents, its second the queries,
and what `score` returns comes behind them as it is.
"""

import jax
import jax.numpy as jnp
import numpy as np


def solution(score):
    """Return the map of `score`: (q, ...) and (d, ...) give (d, q, ...)."""
    for_every_query = jax.vmap(score, in_axes=(0, None))
    return jax.vmap(for_every_query, in_axes=(None, 0))


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(score): returns a function of queries (q, 3) and documents (d, 3).
    """
    queries = jnp.arange(6.0).reshape(2, 3)
    documents = jnp.arange(12.0).reshape(4, 3) % 5
    for score, what in ((jnp.dot, "a number"), (jnp.subtract, "an array")):
        expected = np.array([[score(q, d) for q in queries] for d in documents])
        every = make(score)
        assert callable(every), "every(score) returns a function of queries, documents"
        try:
            found = every(queries, documents)
        except ValueError as error:
            raise AssertionError(
                "2 queries and 4 documents cannot be walked through together; "
                "one of the two has to wait, with None"
            ) from error
        assert np.shape(found) == expected.shape, (
            f"with a score that returns {what}, 2 queries and 4 documents need shape "
            f"{expected.shape}; yours has {np.shape(found)}"
        )
        assert np.array_equal(found, expected), (
            f"with a score that returns {what}, the numbers differ from the loop's"
        )
    print("The check passes.")


def mistake_queries_first(score):
    """You mapped the queries in the outer `vmap`, which puts them first."""
    return jax.vmap(jax.vmap(score, in_axes=(None, 0)), in_axes=(0, None))


def mistake_transposes(score):
    """You used `.T`, which also reverses the axes of what `score` returns."""
    pairs = jax.vmap(jax.vmap(score, in_axes=(None, 0)), in_axes=(0, None))
    return lambda queries, documents: pairs(queries, documents).T


def mistake_walks_together(score):
    """You mapped both arguments in both maps, so they were paired, not crossed."""
    return jax.vmap(jax.vmap(score))
