"""Take the gradient to weights of which each device holds a piece.

Weights (n,), rows (m, n) and targets (m,) are all split over "rows". Return the
gradient to the weights of half the mean squared error of all rows, (n,), split as they
are: each device ends with its own piece, and no device gets the whole gradient to throw
most of it away.

Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion
Parameter Models", 2020, stage 3.
"""

import jax
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.tools.traffic import sends

ROWS = P("rows")


def over(mesh, body, **options):
    """Return `body` over the mesh, where everything is split over "rows"."""
    specs = {"in_specs": (ROWS, ROWS, ROWS), "out_specs": ROWS}
    return jax.jit(jax.shard_map(body, mesh=mesh, **specs, **options))


def error(piece, x, y):
    """Return the error of this device's rows: weights (n/devices,), (m, n), (m,)."""
    w = lax.all_gather(piece, "rows", tiled=True)
    return ((x @ w - y) ** 2).mean() / 2


def solution(mesh):
    """Return the gradient of the mean: what comes back through a gather is summed."""

    def mean_error(piece, x, y):
        return lax.pmean(error(piece, x, y), "rows")

    return over(mesh, jax.grad(mean_error))


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(mesh) returns a function: (n,), (m, n) and (m,) give the gradient, (n,).
    """
    mesh = jax.make_mesh((8,), ("rows",))
    gradient = make(mesh)
    assert callable(gradient), "make(mesh) returns a function: weights, rows, targets"
    x = np.arange(256, dtype=np.float32).reshape(16, 16) % 5
    w, y = np.arange(16, dtype=np.float32) % 3, np.arange(16, dtype=np.float32) % 7
    given = jax.device_put((w, x, y), NamedSharding(mesh, ROWS))
    found = np.asarray(gradient(*given))
    expected = (x @ w - y) @ x / 16
    assert found.shape == (16,), f"16 weights have 16 slopes; yours is {found.shape}"
    assert not np.array_equal(found, 8 * expected), (
        "every slope is eight times too large: how many losses were counted?"
    )
    assert np.array_equal(found, expected), (
        f"the first slopes are {expected[:3]}; yours are {found[:3]}"
    )
    spec = gradient(*given).sharding.spec
    assert spec == ROWS, f"the gradient is split as the weights are, not as {spec}"
    kinds = [sent.kind for sent in sends(jax.jit(gradient).lower(*given))]
    assert "all-reduce" not in kinds and "reduce-scatter" in kinds, (
        "the numbers are right, but every device gets the whole gradient and keeps a "
        f"piece of it; what is sent is {kinds}"
    )


def mistake_takes_the_local_error(mesh):
    """Differentiate the error of this device: the rest is the optimizer's business."""
    return over(mesh, jax.grad(error))


def mistake_averages_pieces(mesh):
    """Average the gradients afterwards, as code for pmap does: they are pieces here."""

    def body(piece, x, y):
        return lax.pmean(jax.grad(error)(piece, x, y), "rows")

    return over(mesh, body)


def mistake_switches_off_the_check(mesh):
    """Take `check_vma=False` for a switch that changes no number."""

    def mean_error(piece, x, y):
        return lax.pmean(error(piece, x, y), "rows")

    return over(mesh, jax.grad(mean_error), check_vma=False)


def mistake_keeps_a_slice(mesh):
    """Gather the weights first, and cut this device's piece out of their gradient."""

    def mean_error(w, x, y):
        return lax.pmean(((x @ w - y) ** 2).mean() / 2, "rows")

    def body(piece, x, y):
        w = lax.all_gather(piece, "rows", tiled=True, to="invarying")
        slopes, first = jax.grad(mean_error)(w, x, y), lax.axis_index("rows")
        return lax.dynamic_slice_in_dim(slopes, first * len(piece), len(piece))

    return over(mesh, body)
