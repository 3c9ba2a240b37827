"""Take the cross-entropy of logits that are sharded over the vocabulary.

Write what each device of a `shard_map` over "model" does: it has four of 32 columns of
the logits and all targets, and returns the loss of each token. No device may receive
the logits of another.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends


def _logsumexp(logits):
    """Return the logarithm of the sum over all devices, (tokens,)."""
    top = lax.pmax(lax.stop_gradient(logits).max(axis=1), "model")
    total = lax.psum(jnp.exp(logits - top[:, None]).sum(axis=1), "model")
    return top + jnp.log(total)


def _columns(logits):
    """Return the numbers of this device's columns in the whole vocabulary."""
    return lax.axis_index("model") * logits.shape[1] + jnp.arange(logits.shape[1])


def solution(logits, targets):
    """Add over the devices the exponentials, and the one logit of each target."""
    hit = _columns(logits) == targets[:, None]
    right = lax.psum(jnp.where(hit, logits, 0).sum(axis=1), "model")
    return _logsumexp(logits) - right


def check(losses):
    """Raise AssertionError, with what to look at, unless `losses` is right.

    losses(logits, targets): float32 (10, 4) and int32 (10,) to float32 (10,).
    """
    logits = np.float32(np.arange(320).reshape(10, 32) * 37 % 101) / 8
    logits[0] += 200  # exp of these overflows
    targets = np.int32(np.arange(10) * 7 % 32)

    def body(logits, targets):
        found = losses(logits, targets)
        assert np.shape(found) == (10,), (
            f"ten tokens have ten losses, (10,); yours: {np.shape(found) or found}"
        )
        return found

    specs = (P(None, "model"), P())
    mesh = jax.make_mesh((8,), ("model",))
    with jax.default_matmul_precision("highest"), jax.set_mesh(mesh):
        given = jax.device_put((logits, targets), specs)
        mapped = jax.jit(jax.shard_map(body, in_specs=specs, out_specs=P()))
        try:
            found = mapped(*given)
        except ValueError as error:
            if "replication" in str(error):
                raise AssertionError(
                    "the losses differ between devices: add or reduce over all columns"
                ) from None
            raise
        moving = {sent.kind for sent in sends(mapped.lower(*given))}
        slope = jax.grad(lambda x: mapped(x, given[1]).sum())(given[0])
    assert np.isfinite(found).all(), (
        "a loss is not finite: subtract the largest logit of all devices before exp"
    )
    wide = logits.astype(np.float64)
    weights = np.exp(wide - wide.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    expected = -np.log(weights[np.arange(10), targets])
    wrong = np.flatnonzero(~np.isclose(found, expected, rtol=1e-4, atol=1e-4))
    assert not len(wrong), (
        f"the loss of token {wrong[0]} is {expected[wrong[0]]:.3f}, yours is "
        f"{found[wrong[0]]:.3f}: which device has the column of its target?"
    )
    weights[np.arange(10), targets] -= 1
    assert np.allclose(slope, weights, rtol=1e-3, atol=1e-4), (
        "the losses are right, and their gradient is not the softmax less the target"
    )
    assert moving <= {"all-reduce"}, (
        f"two or three small sums are enough; yours sends by {sorted(moving)}"
    )


def mistake_counts_columns_from_zero(logits, targets):
    """Look for the target among columns 0 to 3 on every device."""
    hit = jnp.arange(logits.shape[1]) == targets[:, None]
    right = lax.psum(jnp.where(hit, logits, 0).sum(axis=1), "model")
    return _logsumexp(logits) - right


def mistake_subtracts_its_own_maximum(logits, targets):
    """Make each device's exponentials relative to its own maximum, and add them."""
    hit = _columns(logits) == targets[:, None]
    right = lax.psum(jnp.where(hit, logits, 0).sum(axis=1), "model")
    top = logits.max(axis=1)
    total = lax.psum(jnp.exp(logits - top[:, None]).sum(axis=1), "model")
    return lax.pmax(lax.stop_gradient(top), "model") + jnp.log(total) - right


def mistake_subtracts_nothing(logits, targets):
    """Take exp of the logits as they are."""
    hit = _columns(logits) == targets[:, None]
    right = lax.psum(jnp.where(hit, logits, 0).sum(axis=1), "model")
    return jnp.log(lax.psum(jnp.exp(logits).sum(axis=1), "model")) - right


def mistake_gathers_the_logits(logits, targets):
    """Bring all columns to every device, and do what one device does."""
    logits = lax.all_gather(logits, "model", axis=1, tiled=True, to="invarying")
    columns = jnp.arange(logits.shape[1]) == targets[:, None]
    right = jnp.where(columns, logits, 0).sum(axis=1)
    return jax.nn.logsumexp(logits, axis=1) - right
