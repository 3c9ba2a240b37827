"""Take a gradient within a limit of memory, and change none of its numbers.

Given weights, rows (1000, 16) and `network`, return the gradient by the weights of the
sum of all answers, as `vmap` and `grad` give it, with at most 4 MB of temporaries:
less than what all the rows have on the way, 8 MB.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from examples.tools.text import bytes_text
from examples.vmap.memory import network, numbers, temporaries

LIMIT = 4_000_000  # bytes


def total(weights, rows):
    """Return the sum of all answers, (), with all rows at once."""
    return jax.vmap(network, in_axes=(None, 0))(weights, rows).sum()


def solution(weights, rows):
    """Return its gradient: 64 rows at once, and what they had on the way made anew."""

    def in_batches(weights):
        def row_answer(row):
            return jax.checkpoint(network)(weights, row)

        return lax.map(row_answer, rows, batch_size=64).sum()

    return jax.grad(in_batches)(weights)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(weights, rows): (16, 2048) and (2048, 16), (1000, 16) to a pair like weights.
    """
    weights, rows = numbers(1000)
    expected = jax.grad(total)(weights, rows)
    found = jax.tree.leaves(make(weights, rows))
    shapes = [np.shape(leaf) for leaf in found]
    assert shapes == [leaf.shape for leaf in weights], (
        f"a gradient has the shapes of the weights, (16, 2048) and (2048, 16); "
        f"yours has {shapes}"
    )
    assert all(map(np.array_equal, found, expected)), (
        "the numbers differ from those of grad and vmap: is every row in the sum, once?"
    )
    held = temporaries(make, weights, rows)
    assert held <= LIMIT, (
        f"the temporaries take {bytes_text(held)}, {bytes_text(LIMIT)} is the limit: "
        "how many rows are on the way at once, and what is kept for the way back?"
    )


def mistake_checkpoints_all_rows(weights, rows):
    """Think that `checkpoint` saves memory wherever it stands: all rows come anew."""

    def at_once(weights):
        return jax.vmap(jax.checkpoint(network), in_axes=(None, 0))(weights, rows).sum()

    return jax.grad(at_once)(weights)


def mistake_keeps_every_batch(weights, rows):
    """Trust the batches: what each had on the way is kept for the way back."""

    def in_batches(weights):
        return lax.map(lambda row: network(weights, row), rows, batch_size=64).sum()

    return jax.grad(in_batches)(weights)


def mistake_checkpoints_the_loop(weights, rows):
    """Put `checkpoint` around the whole loop: it comes anew as one, and keeps all."""

    @jax.checkpoint
    def in_batches(weights):
        return lax.map(lambda row: network(weights, row), rows, batch_size=64).sum()

    return jax.grad(in_batches)(weights)


def mistake_drops_the_rest(weights, rows):
    """Fold rows into whole batches, and forget those that are left over."""
    batches = rows[: len(rows) // 64 * 64].reshape(-1, 64, rows.shape[1])
    slopes = lax.map(lambda batch: jax.grad(total)(weights, batch), batches)
    return jax.tree.map(lambda slope: jnp.sum(slope, axis=0), slopes)
