"""TODO: a verb sentence that says what the reader writes.

Given `x` `(n,)`, sharded over the mesh axis "data", return how far each number is below
the highest of all, sharded as it came.
"""

import jax
import numpy as np
from jax import P, lax


@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def solution(x):
    """Return the highest number of all less `x`."""
    return lax.pmax(x.max(), "data") - x


def check(below_highest):
    """Raise AssertionError, with what to look at, unless `below_highest` is right.

    It takes and returns float32 `(16,)`, sharded over "data", a mesh axis of eight.
    """
    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        whole = np.arange(16, dtype=np.float32) * 5 % 16
        found = below_highest(jax.device_put(whole, P("data")))
    assert np.shape(found) == whole.shape, (
        f"sixteen numbers need sixteen answers; yours have shape {np.shape(found)}"
    )
    assert np.array_equal(found, whole.max() - whole), (
        "the answers differ from the reference: "
        "is each number compared with the highest of all shards?"
    )
    print("The check passes.")


@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def mistake_stays_at_home(x):
    """You took `max` in the body, which sees the numbers of one shard only."""
    return x.max() - x


@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def mistake_adds_the_shards(x):
    """You used `psum`, which adds the highest numbers of the shards."""
    return lax.psum(x.max(), "data") - x
