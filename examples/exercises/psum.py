"""Take a mean over all devices when each holds another number of real entries.

Batches end somewhere: some devices hold less than a full block, and the rest of it is
padding. Write the body of a `shard_map` over "rows" that returns the mean of all real
entries, the same number on every device.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.tools.traffic import sends


def solution(values, real):
    """Return the mean of the real entries: (k,) and bool (k,) give ()."""
    total = jnp.sum(values, where=real)
    count = jnp.sum(real, dtype=values.dtype)
    total, count = lax.psum((total, count), "rows")
    return total / count


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(values, real): float32 (k,) and bool (k,) on each device, to float32 ().
    """
    mesh = jax.make_mesh((8,), ("rows",))

    def body(values, real):
        answer = make(values, real)
        assert isinstance(answer, jax.Array) and answer.shape == (), (
            "the body should return one number on each device, an array of shape (); "
            f"yours returns {np.shape(answer) or type(answer).__name__}"
        )
        return answer[None]

    rows = P("rows")
    mapped = partial(jax.shard_map, mesh=mesh, in_specs=rows, out_specs=rows)
    program = jax.jit(mapped(body, check_vma=False))
    values = np.arange(32, dtype=np.float32) * 3 % 17
    for counts in [(4,) * 8, (4, 4, 4, 3, 1, 0, 0, 0), (1, 0, 4, 2, 1, 0, 0, 0)]:
        real = (np.arange(4) < np.array(counts)[:, None]).ravel()
        placed = jax.device_put((values, real), NamedSharding(mesh, rows))
        found = np.asarray(program(*placed))
        assert (found == found[0]).all(), (
            f"every device should return the same number; yours return {found}"
        )
        mean = values[real].sum() / real.sum()  # by a power of two: exact
        assert found[0] == mean, (
            f"with {counts} real entries on the devices the mean is {mean}, yours is "
            f"{found[0]}: does each entry count once, wherever it lies?"
        )
    operand = sum(sent.operand for sent in sends(program.lower(*placed)))
    assert operand <= 8, (
        f"a sum and a count are 8 bytes a device; your devices put in {operand}"
    )


def mistake_takes_the_mean_of_means(values, real):
    """Average what the devices found: one with few entries counts like a full one."""
    count = jnp.maximum(real.sum(), 1)
    return lax.pmean(jnp.sum(values, where=real) / count, "rows")


def mistake_counts_the_padding(values, real):
    """Leave the padding out of the sum, and in the number to divide by."""
    return lax.pmean(jnp.sum(values, where=real) / values.size, "rows")


def mistake_keeps_its_own_mean(values, real):
    """Think that `sum` inside the body goes over all devices."""
    return jnp.sum(values, where=real) / jnp.maximum(real.sum(), 1)


def mistake_brings_everything_everywhere(values, real):
    """Gather all entries first, so that the mean is an ordinary one."""
    values, real = lax.all_gather((values, real), "rows")
    return jnp.sum(values, where=real) / jnp.sum(real, dtype=values.dtype)
