"""Gather weights that a rule has sharded along different axes, or not at all.

Write what a `shard_map` over "data" does first: it gets the shards of a dict of weights
and the dict of their specs, and returns the full weights. The gradient of each weight
must come back by a reduce-scatter, and that of a replicated one must not be counted
twice.
"""

import jax
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends

SHAPES = {"embed": (24, 3), "up": (4, 16), "down": (2, 3, 8), "bias": (5,)}
SPECS = {
    "embed": P("data"),
    "up": P(None, "data"),
    "down": P(None, None, "data"),
    "bias": P(),
}


def solution(weights, specs):
    """Gather along the place of "data" in the spec; leave replicated weights alone."""
    return {
        name: lax.all_gather(w, "data", axis=specs[name].index("data"), tiled=True)
        if "data" in specs[name]
        else w
        for name, w in weights.items()
    }


def check(gather):
    """Raise AssertionError, with what to look at, unless `gather` is right.

    gather(weights, specs): the shards of four weights on each of eight devices, and
    their specs, to the full weights of `SHAPES`.
    """
    whole = {
        name: np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 7
        for name, shape in SHAPES.items()
    }

    def loss(weights, x):
        full = gather(weights, SPECS)
        shapes = full
        if isinstance(full, dict):
            shapes = {name: np.shape(w) for name, w in full.items()}
        assert shapes == SHAPES, (
            f"should be a dict of full weights, of shapes {SHAPES}; yours: {shapes}"
        )
        found = lax.stop_gradient(full)
        wrong = [abs(found[name] - whole[name]).sum() for name in whole]
        squares = [(x.sum() * w**2).sum() for w in full.values()]
        return lax.pmean(sum(squares), "data"), lax.pmax(sum(wrong), "data")

    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        given = jax.device_put(
            (whole, np.arange(8, dtype=np.float32)), (SPECS, P("data"))
        )
        step = jax.shard_map(
            jax.grad(loss, has_aux=True),
            in_specs=(SPECS, P("data")),
            out_specs=(SPECS, P()),
        )
        step = jax.jit(step)
        gradients, apart = step(*given)
        found = sends(step.lower(*given))
    assert apart == 0, (
        "the shards are not where they belong: along which axis, and tiled?"
    )
    for name, gradient in gradients.items():
        expected = 2 * 3.5 * whole[name]  # the mean of x is 3.5
        assert np.allclose(gradient, expected), (
            f"the gradient of {name!r} should be 7 times the weight; yours is "
            f"{np.abs(gradient).sum() / np.abs(expected).sum():.3g} times that"
        )
    moved = sum(sent.moved for sent in found if sent.kind == "all-reduce")
    assert moved <= 128 or jax.default_backend() != "cpu", (
        f"{moved} bytes are all-reduced: which to= has a reduce-scatter for gradient?"
    )


def mistake_gathers_along_axis_0(weights, specs):
    """Leave `axis` out, which is right for the first weight only."""
    return {k: lax.all_gather(w, "data", tiled=True) for k, w in weights.items()}


def mistake_gathers_what_is_replicated(weights, specs):
    """Gather the bias as well, along axis 0, and get it eight times."""
    return {
        k: lax.all_gather(w, "data", axis=max(len(specs[k]) - 1, 0), tiled=True)
        for k, w in weights.items()
    }


def mistake_is_not_tiled(weights, specs):
    """Stack the shards along a new axis."""
    return {
        k: lax.all_gather(w, "data", axis=len(specs[k]) - 1) if len(specs[k]) else w
        for k, w in weights.items()
    }


def mistake_makes_it_invarying(weights, specs):
    """Gather for a result under `P()`, so that all gradients are added everywhere."""
    return {
        k: lax.all_gather(w, "data", axis=len(specs[k]) - 1, tiled=True, to="invarying")
        if "data" in specs[k]
        else w
        for k, w in weights.items()
    }
