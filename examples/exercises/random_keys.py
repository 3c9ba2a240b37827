"""Bootstrap the difference of two means: every replicate and every group its own key.

Given a key and two groups, float32 (n,), return for each of `count` replicates the mean
of n numbers drawn with replacement from `a`, less that of n numbers drawn from `b`.
The same key gives the same replicates, and the first ones stay when `count` grows.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import random


def one_replicate(key, a, b):
    """Return the difference of the means of one resample of `a` and one of `b`, ()."""
    for_a, for_b = random.split(key)
    drawn_a = random.choice(for_a, a, a.shape)
    drawn_b = random.choice(for_b, b, b.shape)
    return drawn_a.mean() - drawn_b.mean()


def solution(key, a, b, count):
    """Map one_replicate over a key for each replicate; all share the two groups."""
    keys = jax.vmap(random.fold_in, in_axes=(None, 0))(key, jnp.arange(count))
    return jax.vmap(one_replicate, in_axes=(0, None, None))(keys, a, b)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(key, a, b, count): a key (), float32 (n,) twice, and an int, to (count,).
    """
    key, group = random.key(7), jnp.arange(16.0)
    found = make(key, group, group, 8)
    assert np.shape(found) == (8,), (
        f"8 replicates need 8 differences, in an array of shape (8,); "
        f"yours has shape {np.shape(found)}"
    )
    threes, ones = jnp.full(16, 3.0), jnp.ones(16)
    assert (make(key, threes, ones, 8) == 2).all(), (
        "sixteen threes and sixteen ones differ by 2, whatever is drawn"
    )
    assert (found != 0).any(), (
        "of two equal groups, all replicates differ by 0: were numbers drawn with "
        "replacement, and did each group have a key of its own?"
    )
    assert len(np.unique(found)) > 1, (
        "all replicates are equal: does each have a key of its own?"
    )
    assert np.array_equal(make(key, group, group, 8), found), (
        "the same key gave other replicates: does anything but the key draw?"
    )
    assert not np.array_equal(make(random.key(8), group, group, 8), found), (
        "another key gave the same replicates: is the key used?"
    )
    assert np.array_equal(make(key, group, group, 4), found[:4]), (
        "4 replicates are not the first 4 of 8: does a key depend on `count`?"
    )
    spread = np.std(make(key, group, group, 4000))
    right = np.sqrt(2 * np.var(np.arange(16.0)) / 16)
    assert abs(spread / right - 1) < 0.1, (
        f"the differences spread by {spread:.2f}, where two independent resamples "
        f"spread by {right:.2f}: are there 16 numbers in each?"
    )
    print("The check passes.")


def mistake_shares_the_key(key, a, b, count):
    """You gave every replicate the same key, so all replicates are equal."""

    def one(number, key):
        return one_replicate(key, a, b)

    return jax.vmap(one, in_axes=(0, None))(jnp.arange(count), key)


def mistake_seeds_inside(key, a, b, count):
    """You made a key from a fixed seed inside the map, the same for each replicate."""
    return jax.vmap(lambda _: one_replicate(random.PRNGKey(0), a, b))(jnp.arange(count))


def mistake_seeds_by_number(key, a, b, count):
    """You made keys from the replicates' numbers alone, and did not use `key`."""
    keys = jax.vmap(random.key)(jnp.arange(count))
    return jax.vmap(one_replicate, in_axes=(0, None, None))(keys, a, b)


def mistake_draws_twice(key, a, b, count):
    """You used one key for both groups, so both drew the same positions."""

    def one(key):
        drawn_a, drawn_b = (random.choice(key, group, group.shape) for group in (a, b))
        return drawn_a.mean() - drawn_b.mean()

    return jax.vmap(one)(random.split(key, count))


def mistake_shuffles(key, a, b, count):
    """You used a permutation: it has every number once, so its mean is fixed."""

    def one(key):
        for_a, for_b = random.split(key)
        return random.permutation(for_a, a).mean() - random.permutation(for_b, b).mean()

    return jax.vmap(one)(random.split(key, count))


def mistake_cuts_in_half(key, a, b, count):
    """You split into `2 * count` keys, so the keys of `b` depend on `count`."""

    def one(for_a, for_b):
        drawn_a = random.choice(for_a, a, a.shape)
        return drawn_a.mean() - random.choice(for_b, b, b.shape).mean()

    keys = random.split(key, 2 * count)
    return jax.vmap(one)(keys[:count], keys[count:])


def mistake_asks_numpy(key, a, b, count):
    """You drew with NumPy, which runs once, while JAX traces: all draws are equal."""
    rng = np.random.default_rng(0)

    def one(_):
        drawn_a, drawn_b = (group[rng.integers(0, 16, 16)] for group in (a, b))
        return drawn_a.mean() - drawn_b.mean()

    return jax.vmap(one)(jnp.arange(count))
