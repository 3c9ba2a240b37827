"""Weigh each example of a batch by its loss, in a function of one example.

Write `weigh(loss)`, which is mapped along an axis called `data`: the loss of one
example, (), to exp(loss) divided by the sum of exp of all losses of the batch, ().
A loss may be as large as 1,000: subtract the largest one from all of them first.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def solution(loss):
    """Ask the batch twice: for its largest loss, and for a sum."""
    share = jnp.exp(loss - lax.pmax(loss, "data"))
    return share / lax.psum(share, "data")


def check(weigh):
    """Raise AssertionError, with what to look at, unless `weigh` is right.

    weigh(loss): float32 (), to the weight of this example, (), under a map along data.
    """
    assert callable(weigh), f"one loss needs one weight, and {weigh!r} gives none"

    def watched(loss):
        weight = weigh(loss)
        assert np.shape(weight) == () and hasattr(weight, "dtype"), (
            f"one loss needs one weight, of shape (); yours gives {weight!r}"
        )
        return weight

    for batch in ([1, 2, 0, 3], [7], [1000, 998, 999, 0], [-1000, -999]):
        losses = np.array(batch, np.float32)
        found = np.asarray(jax.vmap(watched, axis_name="data")(losses))
        case = f"for the losses {batch}"
        assert np.all(np.isfinite(found)), (
            f"{case}, the weights are {found}: exp of a large number is infinite; what "
            "is to be subtracted first, and from what?"
        )
        assert np.isclose(found.sum(), 1, atol=1e-3), (
            f"{case}, the weights add up to {found.sum():.4g}, not to 1: by what do "
            "you divide, and who takes part in it?"
        )
        right = np.exp(losses - losses.max())
        right /= right.sum()
        assert np.allclose(found, right, atol=1e-3), (
            f"{case}, the weights are {found.round(3)}, and should be "
            f"{right.round(3)}: does each example subtract the same number?"
        )
    print("The check passes.")


def mistake_adds_up_alone(loss):
    """You took `sum`, which sees one loss, so each example has all the weight."""
    return jnp.exp(loss) / jnp.exp(loss).sum()


def mistake_subtracts_its_own(loss):
    """You subtracted `loss.max()`, the largest of one loss, so all weigh the same."""
    share = jnp.exp(loss - loss.max())
    return share / lax.psum(share, "data")


def mistake_divides_by_the_mean(loss):
    """You divided by the mean over the batch, so the weights add up to its length."""
    share = jnp.exp(loss - lax.pmax(loss, "data"))
    return share / lax.pmean(share, "data")


def mistake_subtracts_above_only(loss):
    """You subtracted the largest loss above the line, but not in the sum below."""
    share = jnp.exp(loss - lax.pmax(loss, "data"))
    return share / lax.psum(jnp.exp(loss), "data")


def mistake_does_not_subtract(loss):
    """You left out the largest loss, and infinity by infinity is no number."""
    return jnp.exp(loss) / lax.psum(jnp.exp(loss), "data")
