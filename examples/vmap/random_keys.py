"""Draw different random numbers in every row: a key for each row, and map the keys.

Why it is hard: a JAX key is data. The same key gives the same numbers, in each row and
in each draw, and nothing warns you: a single row looks as random as ever.
What finishes it: derive the key of a row from its number, map over keys as over any
array, and look at several rows at once, and at batches of several sizes.

Run it: `python -m examples.vmap.random_keys`
"""

import jax
import jax.numpy as jnp
from jax import random


def nudge(x, key):
    """Return whole numbers x, of any shape, with the throw of a die added to each."""
    return x + random.randint(key, x.shape, 1, 7)


def reference(xs, keys):
    """Return `nudge` of each row, (n, k), by a loop; keys: (n,)."""
    return jnp.stack([nudge(x, key) for x, key in zip(xs, keys, strict=True)])


def numbered_keys(key, numbers):
    """Return a key for each row, (n,), from the numbers that rows have, int (n,)."""
    return jax.vmap(random.fold_in, in_axes=(None, 0))(key, numbers)


def key_at(key, chain, step):
    """Return the key for one step of one chain: fold in one number, then the other."""
    return random.fold_in(random.fold_in(key, chain), step)


def grid_of_keys(key, chains, steps):
    """Return `key_at` for each chain and each step, (c, s), from their numbers."""
    over_steps = jax.vmap(key_at, in_axes=(None, None, 0))
    return jax.vmap(over_steps, in_axes=(None, 0, None))(key, chains, steps)


def draws(key, count):
    """Return `{way: throws}`: three ways to throw three dice in `count` rows."""
    zeros = jnp.zeros((count, 3), int)
    return {
        "split": jax.vmap(nudge)(zeros, random.split(key, count)),
        "fold_in": jax.vmap(nudge)(zeros, numbered_keys(key, jnp.arange(count))),
        "one call": nudge(zeros, key),
    }


def dropout(x, key):
    """Return x, of any shape, with about half its numbers zero and the rest doubled."""
    return jnp.where(random.bernoulli(key, 0.5, x.shape), 2 * x, 0)


def one_key_twice(key):
    """Return a uniform and a normal number, () and (), from the same key."""
    return random.uniform(key), random.normal(key)


def two_keys(key):
    """Return a uniform and a normal number, () and (), each from a key of its own."""
    for_uniform, for_normal = random.split(key)
    return random.uniform(for_uniform), random.normal(for_normal)


def main():
    """Throw three dice in each of four rows, and say which rows are alike.

    >>> main()
    one key: 1 different row of 4
    a key for each row: 4 different rows of 4
    mapped keys give what a loop gives: True
    the first four of eight rows keep their throws: True
    """
    key, xs = random.key(0), jnp.zeros((4, 3), int)
    keys = random.split(key, 4)
    shared = jax.vmap(nudge, in_axes=(0, None))(xs, key)
    own = jax.vmap(nudge)(xs, keys)
    few, many = draws(key, 4), draws(key, 8)
    kept = all(jnp.array_equal(few[way], many[way][:4]) for way in few)
    equal = jnp.array_equal(own, reference(xs, keys))
    assert equal and kept
    print(f"one key: {len(jnp.unique(shared, axis=0))} different row of 4")
    print(f"a key for each row: {len(jnp.unique(own, axis=0))} different rows of 4")
    print(f"mapped keys give what a loop gives: {equal}")
    print(f"the first four of eight rows keep their throws: {kept}")


if __name__ == "__main__":
    main()
