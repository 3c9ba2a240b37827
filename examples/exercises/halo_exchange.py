"""Average each row of a sharded image with the two rows above and below it.

Write the body of a `shard_map` over "height": it gets four of 32 rows and returns as
many, each the mean of five. Beyond the image, its first and its last row repeat.
No device may receive more than two rows from each neighbor.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends


def _halo(x):
    """Return two rows from each neighbor around the rows of this device."""
    n = lax.axis_size("height")
    above = lax.ppermute(x[-2:], "height", [(d, d + 1) for d in range(n - 1)])
    below = lax.ppermute(x[:2], "height", [(d + 1, d) for d in range(n - 1)])
    return above, below


def _mean_of_five(rows):
    return sum(rows[i : len(rows) - 4 + i] for i in range(5)) / 5


def solution(x):
    """Exchange two rows, repeat the edges, and add: (4, 6) gives (4, 6)."""
    d, n = lax.axis_index("height"), lax.axis_size("height")
    above, below = _halo(x)
    above = jnp.where(d == 0, x[:1], above)
    below = jnp.where(d == n - 1, x[-1:], below)
    return _mean_of_five(jnp.concatenate([above, x, below]))


def check(smooth):
    """Raise AssertionError, with what to look at, unless `smooth` is right.

    smooth(x): float32 (4, 6), one of eight shards of (32, 6), to the same shape.
    """
    image = np.arange(32 * 6, dtype=np.float32).reshape(32, 6) * 37 % 101

    def body(x):
        answer = smooth(x)
        assert isinstance(answer, jax.Array) and answer.shape == x.shape, (
            f"four rows of the smoothed image should have shape {x.shape}; "
            f"yours has {np.shape(answer) or type(answer).__name__}"
        )
        return answer

    with jax.set_mesh(jax.make_mesh((8,), ("height",))):
        x = jax.device_put(image, P("height"))
        mapped = jax.shard_map(body, in_specs=P("height"), out_specs=P("height"))
        found = np.asarray(jax.jit(mapped)(x))
        moved = sum(sent.moved for sent in sends(jax.jit(mapped).lower(x)))
    expected = _mean_of_five(np.pad(image, ((2, 2), (0, 0)), mode="edge"))
    wrong = ~np.isclose(found, expected, rtol=1e-5, atol=1e-4).all(axis=1)
    ends = [0, 1, 30, 31]
    assert not (wrong[ends].any() and not np.delete(wrong, ends).any()), (
        "the rows at the ends of the image are wrong: what does a device without a "
        "neighbor receive?"
    )
    assert not wrong.any(), (
        f"rows {np.flatnonzero(wrong).tolist()} are wrong: "
        "does each device have two rows of both neighbors, in the right order?"
    )
    assert moved <= 4 * 6 * 4, (
        f"each device sends {moved} bytes, and four rows have only {4 * 6 * 4}"
    )
    print("The check passes.")


def mistake_stays_at_home(x):
    """You padded each shard with its own edges, not with rows of its neighbors."""
    return _mean_of_five(jnp.pad(x, ((2, 2), (0, 0)), mode="edge"))


def mistake_forgets_the_border(x):
    """You did not repeat the edges: a device without a neighbor receives zeros."""
    above, below = _halo(x)
    return _mean_of_five(jnp.concatenate([above, x, below]))


def mistake_closes_the_ring(x):
    """You closed the ring, so the first device received the image's last rows."""
    n = lax.axis_size("height")
    above = lax.ppermute(x[-2:], "height", [(d, (d + 1) % n) for d in range(n)])
    below = lax.ppermute(x[:2], "height", [((d + 1) % n, d) for d in range(n)])
    return _mean_of_five(jnp.concatenate([above, x, below]))


def mistake_gathers_the_image(x):
    """You gathered the image, where two rows of each neighbor are enough."""
    image = lax.all_gather(x, "height", tiled=True)
    smoothed = _mean_of_five(jnp.pad(image, ((2, 2), (0, 0)), mode="edge"))
    return lax.dynamic_slice_in_dim(smoothed, 4 * lax.axis_index("height"), 4)
