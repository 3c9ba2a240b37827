"""Drop units so that the number of devices does not show.

Write the body of a `shard_map`: it gets the rows of one device, `(m, k)`, and one key,
the same on all devices.  Each number is dropped with probability one half, or doubled,
and the result is the same on one device as on eight.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def drop(row, key):
    """Return one row, (k,), of which each number is 0 or doubled."""
    return jnp.where(jax.random.bernoulli(key, 0.5, row.shape), row / 0.5, 0)


def solution(rows, key):
    """Give each row a key by its number in the whole array: (m, k) to (m, k)."""
    count = len(rows)
    numbers = lax.axis_index("data") * count + jnp.arange(count)
    keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, numbers)
    return jax.vmap(drop)(rows, keys)


def check(body):
    """Raise AssertionError, with what to look at, unless `body` is right.

    body(rows, key): float32 `(m, k)` and a key to float32 `(m, k)`.
    """
    for count in (8, 16):
        host = np.ones((count, 64), np.float32)
        found = {n: run(body, host, n) for n in (8, 4, 1)}
        for n, dropped in found.items():
            assert dropped.shape == host.shape, (
                f"{host.shape} numbers stay {host.shape}; yours are {dropped.shape}"
            )
            assert np.isin(dropped, (0, 2)).all() and 0.4 < dropped.mean() / 2 < 0.6, (
                "half of the ones become 0, and the others 2: divide by 0.5"
            )
            alike = count - len(np.unique(dropped, axis=0))
            assert alike == 0, (
                f"on {n} devices, {alike} of {count} rows have the mask of another "
                "row: what number does a row have in the whole array?"
            )
            assert np.array_equal(dropped, found[8]), (
                f"on {n} devices other numbers are dropped than on 8: does a key "
                "depend on the device, or on the row?"
            )
    print("The check passes.")


def run(body, host, devices):
    """Return what `body` makes of the array `host` (n, k) on so many devices."""
    with jax.set_mesh(jax.make_mesh((devices,), ("data",))):
        mapped = jax.shard_map(body, in_specs=(P("data"), P()), out_specs=P("data"))
        rows = jax.device_put(host, P("data"))
        try:
            found = jax.jit(mapped)(rows, jax.random.key(3))
        except (TypeError, ValueError) as error:
            message = f"the body of the shard_map raises: {error}"
            raise AssertionError(message) from error
        return np.asarray(found)


def mistake_draws_for_the_shard(rows, key):
    """You folded in the device's number, so masks depend on the number of devices."""
    key = jax.random.fold_in(key, lax.axis_index("data"))
    return drop(rows, key)


def mistake_counts_its_own_rows(rows, key):
    """You numbered the rows from 0 on every device, so all devices share masks."""
    keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, jnp.arange(len(rows)))
    return jax.vmap(drop)(rows, keys)


def mistake_adds_the_device(rows, key):
    """You added the device to the row's number, so rows of two devices share masks."""
    numbers = lax.axis_index("data") + jnp.arange(len(rows))
    keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, numbers)
    return jax.vmap(drop)(rows, keys)
