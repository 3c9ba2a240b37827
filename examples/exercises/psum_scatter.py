"""Add the gradient of an embedding table over devices that own some of its rows each.

Each device has tokens of its own, and a gradient for each of them. Write the body of
a `shard_map` over "data" that returns the rows of the table's gradient that the device
owns, added over all tokens of all devices.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends

ROWS = 32  # of the table, a row for each token


def solution(tokens, grads):
    """Return the device's rows: int (m,) and float32 (m, k) give (ROWS / n, k)."""
    table = jax.ops.segment_sum(grads, tokens, num_segments=ROWS)
    return lax.psum_scatter(table, "data", tiled=True)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(tokens, grads): int32 (10,) and float32 (10, 3) to float32 (4, 3), on each of
    eight devices.
    """
    tokens = np.arange(80, dtype=np.int32) // 2 * 7 % 31
    grads = np.arange(240, dtype=np.float32).reshape(80, 3) % 11

    def body(tokens, grads):
        answer = make(tokens, grads)
        assert isinstance(answer, jax.Array) and answer.shape == (4, 3), (
            "each device owns four rows of 32, so the result should have shape (4, 3); "
            f"yours has {np.shape(answer) or type(answer).__name__}"
        )
        return answer

    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        given = jax.device_put((tokens, grads), P("data"))
        specs = (P("data"), P("data"))
        step = jax.jit(jax.shard_map(body, in_specs=specs, out_specs=P("data")))
        found = np.asarray(step(*given))
        moving = sends(step.lower(*given))
    table = np.zeros((ROWS, 3), np.float32)
    np.add.at(table, tokens, grads)
    wrong = np.flatnonzero((found != table).any(axis=1))
    assert not len(wrong), (
        f"row {wrong[0]} should be {table[wrong[0]]}, yours is {found[wrong[0]]}: "
        "do the tokens of all devices count, and each row once?"
    )
    moved, least = sum(sent.moved for sent in moving), table.nbytes * 7 // 8
    assert moved <= least or jax.default_backend() != "cpu", (
        f"{least} bytes from each device are enough; yours sends {moved}: "
        "does any device learn more of the sum than it owns?"
    )
    print("The check passes.")


def mistake_sums_for_everybody(tokens, grads):
    """You used `psum`, which sends twice the bytes, and then kept only four rows."""
    table = jax.ops.segment_sum(grads, tokens, num_segments=ROWS)
    table = lax.psum(table, "data")
    return lax.dynamic_slice_in_dim(table, 4 * lax.axis_index("data"), 4)


def mistake_keeps_its_own_tokens(tokens, grads):
    """You used one device's tokens only, without a sum over the devices."""
    table = jax.ops.segment_sum(grads, tokens, num_segments=ROWS)
    return lax.dynamic_slice_in_dim(table, 4 * lax.axis_index("data"), 4)


def mistake_forgets_repeated_tokens(tokens, grads):
    """You set the rows instead of adding, so a token that comes twice counts once."""
    table = jnp.zeros((ROWS, 3)).at[tokens].set(grads)
    return lax.psum_scatter(table, "data", tiled=True)


def mistake_deals_the_rows_out(tokens, grads):
    """You reshaped the table, so device d got the rows d, d + 8 and so on."""
    table = jax.ops.segment_sum(grads, tokens, num_segments=ROWS)
    return lax.psum_scatter(table.reshape(4, 8, 3), "data", scatter_dimension=1)
