"""Write a softmax over sharded columns, for callers that shard the rows.

A caller has taken the mesh axis "data": it maps over rows, and calls your function with
the rows of one device.  Their columns are still sharded over "model".  Return the
softmax of each row, with the columns sharded as they came.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


@jax.shard_map(
    axis_names={"model"}, in_specs=P(None, "model"), out_specs=P(None, "model")
)
def solution(logits):
    """Return the shares of this device's columns, (m, k): two collectives of (m, 1)."""
    top = lax.pmax(logits.max(axis=1, keepdims=True), "model")
    shares = jnp.exp(logits - top)
    return shares / lax.psum(shares.sum(axis=1, keepdims=True), "model")


def check(softmax):
    """Raise AssertionError, with what to look at, unless `softmax` is right.

    softmax(logits): float32 `(m, n)` to `(m, n)`, called by a `shard_map` over "data".
    """
    mesh = jax.make_mesh((4, 2), ("data", "model"))
    for rows, columns, scale in ((8, 6, 1), (4, 10, 1), (8, 4, 200)):
        host = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
        host = scale * np.cos(host)
        with jax.set_mesh(mesh):
            logits = jax.device_put(host, P("data", "model"))
            caller = jax.shard_map(
                softmax, axis_names={"data"}, in_specs=P("data"), out_specs=P("data")
            )
            try:
                found = jax.jit(caller)(logits)
            except (TypeError, NameError, ValueError) as error:
                message = f"called by a shard_map over data, yours raises: {error}"
                raise AssertionError(message) from error
        assert np.shape(found) == host.shape, (
            f"the softmax of logits {host.shape} has the same shape; yours has "
            f"{np.shape(found)}: which columns does a device return?"
        )
        assert not np.isnan(found).any(), (
            "exp overflows for logits of 200: subtract the largest of each row first, "
            "the largest on any device"
        )
        assert np.allclose(found, jax.nn.softmax(host), rtol=1e-4, atol=1e-6), (
            "each row has to add up to 1 over all its columns; yours add up to "
            f"{np.asarray(found).sum(axis=1).round(2)}: whose columns are in the sum?"
        )
        assert found.sharding.spec == P("data", "model"), (
            f"the columns go back sharded as they came, not as {found.sharding.spec}"
        )
    print("The check passes.")


@jax.shard_map(
    axis_names={"model"}, in_specs=P(None, "model"), out_specs=P(None, "model")
)
def mistake_sums_its_own_columns(logits):
    """You took the softmax of one device's columns, without those of the others."""
    return jax.nn.softmax(logits)


@jax.shard_map(
    axis_names={"model"}, in_specs=P(None, "model"), out_specs=P(None, "model")
)
def mistake_lets_exp_overflow(logits):
    """You did not subtract the largest logit, so `exp` overflows."""
    shares = jnp.exp(logits)
    return shares / lax.psum(shares.sum(axis=1, keepdims=True), "model")


@jax.shard_map(
    axis_names={"model"}, in_specs=P(None, "model"), out_specs=P(None, "model")
)
def mistake_returns_all_columns(logits):
    """You returned all columns from every device, not only its own."""
    whole = lax.all_gather(logits, "model", axis=1, tiled=True)
    return jax.nn.softmax(whole)
