"""Pool a padded sequence: the mean of its values, weighted by a softmax of its scores.

Write `pool(scores, values, length)` for one sequence: `scores` (n,), `values` (n, k)
and the number of entries that are real. What lies beyond them may be anything, NaN
included. An empty sequence gives zeros.
"""

import jax
import jax.numpy as jnp
import numpy as np


def solution(scores, values, length):
    """Return the mean of the first `length` values, weighted: (n,), (n, k) to (k,)."""
    mask = jnp.arange(scores.size) < length
    weights = jax.nn.softmax(scores, where=mask)
    return weights @ jnp.where(mask[:, None], values, 0)


def check(pool):
    """Raise AssertionError, with what to look at, unless `pool` is right.

    pool(scores, values, length): float32 `(n,)` and `(n, k)` and an int32, to `(k,)`.
    """
    draw = np.random.default_rng(0)
    lengths = np.array([6, 2, 1, 0])
    real = np.arange(6) < lengths[:, None]
    scores = draw.integers(-2, 3, (4, 6)).astype(np.float32)
    values = draw.integers(-9, 10, (4, 6, 3)).astype(np.float32)
    expected = np.zeros((4, 3), np.float32)
    for i, n in enumerate(lengths[:3]):
        weights = np.exp(scores[i, :n])
        expected[i] = weights / weights.sum() @ values[i, :n]
    for padding in (0, 50, np.nan):
        s = np.where(real, scores, padding).astype(np.float32)
        v = np.where(real[..., None], values, padding).astype(np.float32)
        with jax.default_matmul_precision("highest"):
            found = np.asarray(jax.jit(jax.vmap(pool))(s, v, lengths))
        assert found.shape == (4, 3), (
            f"pool(scores, values, length) should have the shape (3,), and has "
            f"{found.shape[1:]}"
        )
        for i, n in enumerate(lengths):
            assert np.allclose(found[i], expected[i], atol=1e-4), (
                f"a sequence of {n} of 6 entries, with {padding} beyond them, gives "
                f"{found[i]}, and should give {expected[i]}"
            )
    print("The check passes.")


def mistake_masks_the_weights(scores, values, length):
    """You masked after the softmax, so its denominator still contains the padding."""
    mask = jnp.arange(scores.size) < length
    weights = jnp.where(mask, jax.nn.softmax(scores), 0)
    return weights @ jnp.where(mask[:, None], values, 0)


def mistake_scores_of_zero(scores, values, length):
    """You set the scores of padding to 0, but exp(0) is 1, so it keeps a weight."""
    mask = jnp.arange(scores.size) < length
    weights = jax.nn.softmax(jnp.where(mask, scores, 0))
    return weights @ jnp.where(mask[:, None], values, 0)


def mistake_trusts_a_weight_of_zero(scores, values, length):
    """You multiplied padding by a weight of 0, but 0 times NaN is NaN."""
    mask = jnp.arange(scores.size) < length
    return jax.nn.softmax(scores, where=mask) @ values


def mistake_minus_infinity(scores, values, length):
    """You set the scores of padding to -inf, which makes an empty sequence NaN."""
    mask = jnp.arange(scores.size) < length
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
    return weights @ jnp.where(mask[:, None], values, 0)
