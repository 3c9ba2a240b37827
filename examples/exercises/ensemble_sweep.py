"""Take the best model of each seed out of a sweep, and leave the others where they are.

A sweep has trained 32 models, eight rates with four seeds each. Their parameters are
stacked, (8, 4, ...), and so are their last losses, (8, 4); both are sharded over
"model", a rate on each device. Return the parameters of the model with the lowest loss
of each seed, (4, ...), replicated. A model that diverged has NaN for its loss.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P

from examples.tools.traffic import sends


def solution(params, losses):
    """Ask which rate is best for each seed, and take these four models."""
    best, seeds = jnp.nanargmin(losses, axis=0), jnp.arange(4)

    def take(leaf):
        return leaf.at[best, seeds].get(out_sharding=P())

    return jax.tree.map(take, params)


def check(best_of_seeds):
    """Raise AssertionError, with what to look at, unless `best_of_seeds` is right.

    best_of_seeds(params, losses): a dict of float32 (8, 4, ...) and float32 (8, 4).
    """
    draw = np.random.default_rng(0)
    params = {
        "w1": draw.normal(size=(8, 4, 16, 32)).astype(np.float32),
        "w2": draw.normal(size=(8, 4, 32)).astype(np.float32),
    }
    losses = draw.permutation(32).reshape(8, 4).astype(np.float32)
    diverged = losses.copy()
    diverged[-1, :3] = np.nan
    with jax.set_mesh(jax.make_mesh((8,), ("model",))):
        for given in losses, diverged:
            _compare(best_of_seeds, params, given)
        placed = jax.device_put((params, losses), P("model"))
        moved = sum(s.moved for s in sends(jax.jit(best_of_seeds).lower(*placed)))
    stack = sum(leaf.nbytes for leaf in params.values())
    assert moved < stack / 2, (
        f"each device sends {moved:,} bytes, as much as the parameters of most models, "
        f"to return four of 32, {stack // 8:,} bytes: index first, then replicate"
    )
    print("The check passes.")


def _compare(best_of_seeds, params, losses):
    """Say which model of the sweep is wrong, where one is."""
    try:
        found = jax.jit(best_of_seeds)(*jax.device_put((params, losses), P("model")))
    except Exception as error:  # the name of its type is not public
        if "out_sharding" not in str(error):
            raise
        raise AssertionError(
            "the axis that you index is sharded: say how the result should be, "
            "`.at[...].get(out_sharding=...)`"
        ) from None
    assert isinstance(found, dict) and found.keys() == params.keys(), (
        f"return a dict of stacked parameters as you got it; yours: {found!r}"
    )
    best = np.nanargmin(losses, axis=0)
    for name, leaf in found.items():
        expected = params[name][best, np.arange(4)]
        assert leaf.shape == expected.shape, (
            f"four seeds have four models: {name!r} should have the shape "
            f"{expected.shape}, and has {leaf.shape}"
        )
        for seed in range(4):
            assert np.array_equal(leaf[seed], expected[seed]), (
                f"the losses of seed {seed} are {losses[:, seed].tolist()}: its best "
                f"model is number {best[seed]}; yours is "
                f"{_which(leaf[seed], params[name])}"
            )
        assert leaf.sharding.is_fully_replicated, f"{name!r} should be replicated"


def _which(leaf, stack):
    """Say where in the sweep a model is from."""
    places = np.argwhere((stack == leaf).all(axis=tuple(range(2, stack.ndim))))
    names = [f"number {rate} of seed {seed}" for rate, seed in places]
    return names[0] if names else "none of the sweep"


def mistake_lets_nan_win(params, losses):
    """You used `argmin`, which returns the index of a NaN where there is one."""
    best, seeds = losses.argmin(axis=0), jnp.arange(4)
    return jax.tree.map(lambda w: w.at[best, seeds].get(out_sharding=P()), params)


def mistake_gathers_the_sweep(params, losses):
    """You replicated all 32 models before you indexed, so all were communicated."""
    params, losses = jax.reshard((params, losses), P())
    best = jnp.nanargmin(losses, axis=0)
    return jax.tree.map(lambda w: w[best, jnp.arange(4)], params)


def mistake_takes_all_seeds_of_a_rate(params, losses):
    """You indexed the rates only, so each seed got the models of all four seeds."""
    best = jnp.nanargmin(losses, axis=0)
    return jax.tree.map(lambda w: w.at[best].get(out_sharding=P()), params)


def mistake_chooses_one_rate(params, losses):
    """You chose one rate for all seeds, the one with the lowest mean loss."""
    best = jnp.full(4, jnp.nanmean(losses, axis=1).argmin())
    seeds = jnp.arange(4)
    return jax.tree.map(lambda w: w.at[best, seeds].get(out_sharding=P()), params)


def mistake_indexes_the_sharded_axis(params, losses):
    """You indexed a sharded axis, but did not say how the result is to be sharded."""
    best = jnp.nanargmin(losses, axis=0)
    return jax.tree.map(lambda w: w[best, jnp.arange(4)], params)
