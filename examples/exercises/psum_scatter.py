"""Take a step of training in which no device adds up, or updates, all of the weights.

Each device holds a block of the weights, `(k,)`, and a gradient of all of them from
its own rows, `(n * k,)`. Write the body of the `shard_map`: the block less the mean of
the gradients where the block is, so that the weights stay split.
"""

import jax
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.tools.traffic import sends


def solution(part, gradient):
    """Return the new block, (k,): the sum arrives in parts, and is divided there."""
    total = lax.psum_scatter(gradient, "rows", tiled=True)
    return part - total / lax.axis_size("rows")


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(part, gradient): float32 (k,) and (n * k,) on each of n devices, to (k,).
    """
    for n in (2, 8):
        mesh = jax.make_mesh((n,), ("rows",))
        weights = np.arange(3 * n, dtype=np.float32) % 5
        gradients = 8 * (np.arange(3 * n * n, dtype=np.float32).reshape(n, -1) * 5 % 11)
        rows = P("rows")

        def body(part, gradient):
            answer = make(part, gradient[0])
            assert isinstance(answer, jax.Array) and answer.shape == part.shape, (
                f"a block of shape {part.shape} should come back; "
                f"yours has {np.shape(answer) or type(answer).__name__}"
            )
            return answer

        mapped = jax.shard_map(body, mesh=mesh, in_specs=rows, out_specs=rows)
        step = jax.jit(mapped)
        placed = jax.device_put((weights, gradients), NamedSharding(mesh, rows))
        found = np.asarray(step(*placed))
        assert np.array_equal(found, weights - gradients.mean(axis=0)), (
            f"on {n} devices the new weights should be weights - gradients.mean(axis=0)"
            f", {weights - gradients.mean(axis=0)}; yours are {found}"
        )
        moved = sum(sent.moved for sent in sends(step.lower(*placed)))
        least = (n - 1) * weights.nbytes // n
        assert moved <= least, (
            f"on {n} devices {least} bytes from each will do; yours sends {moved}: "
            "does any device learn more of the sum than it uses?"
        )


def mistake_sums_for_everybody(part, gradient):
    """Take the mean on every device, then the piece that is needed."""
    mean = lax.pmean(gradient, "rows")
    start = lax.axis_index("rows") * part.size
    return part - lax.dynamic_slice(mean, (start,), (part.size,))


def mistake_forgets_to_divide(part, gradient):
    """Take `psum_scatter` for a mean: there is no `pmean_scatter`."""
    return part - lax.psum_scatter(gradient, "rows", tiled=True)


def mistake_uses_its_own_gradient(part, gradient):
    """Cut the block out of the gradient at hand, which knows its own rows only."""
    start = lax.axis_index("rows") * part.size
    return part - lax.dynamic_slice(gradient, (start,), (part.size,))


def mistake_scatters_every_other(part, gradient):
    """Fold to make it fit without `tiled`, and scatter the axis that is inside."""
    folded = gradient.reshape(part.size, -1)
    total = lax.psum_scatter(folded, "rows", scatter_dimension=1)
    return part - total / lax.axis_size("rows")
