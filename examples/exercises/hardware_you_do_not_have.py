"""Place the weights of a model so that a device holds no more than its share."""

import jax
import numpy as np
from jax import P

from examples.scale.hardware_you_do_not_have import model, numbers, reference, shapes


def check(place):
    """Raise AssertionError unless `place()` fits, and changes no number.

    place() returns a spec for each of the two stacks of weights, (64, 4096, 16384) and
    (64, 16384, 4096). Each of eight devices may hold an eighth of them.
    """
    mesh = jax.make_mesh((8,), ("rows",))
    specs = place()
    assert isinstance(specs, tuple) and len(specs) == 2, "place() returns two specs"
    assert all(isinstance(spec, P) for spec in specs), "a spec is a jax.P"
    *weights, rows = shapes(mesh, specs)
    for name, held in zip(("up", "down"), weights, strict=True):
        share = np.prod(held.sharding.shard_shape(held.shape)) / np.prod(held.shape)
        assert share == 1 / 8, f"a device holds {share:.3g} of {name}, not an eighth"
    try:
        model(mesh).lower(*weights, rows)
    except Exception as error:
        raise AssertionError(f"the model does not lower: {error}") from error
    up, down, x = numbers(mesh, specs)
    answer = model(mesh)(up, down, x)
    expected = reference(*map(np.asarray, (up, down, x)))
    assert np.array_equal(answer, expected), "the numbers changed"
    print("The check passes.")


def solution():
    """Shard both over the hidden axis: each device has a shard of every layer."""
    return P(None, None, "rows"), P(None, "rows")


def mistake_whole():
    """You replicated the weights, so each device holds all of them."""
    return P(), P()


def mistake_only_one():
    """You sharded the first stack only, but the second is as large."""
    return P(None, None, "rows"), P()


def mistake_by_layer():
    """You sharded the axis of the layers, which `scan` needs replicated."""
    return P("rows"), P("rows")
