"""Take the global norm of gradients of which some are sharded and some replicated.

Write what a `shard_map` over "data" does with its shards of a dict of gradients and the
dict of their specs: it returns the square root of the sum of all squares, the same on
every device.
"""

import jax
import jax.numpy as jnp
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


def solution(grads, specs):
    """Squares of shards are added over the devices, those of replicated ones once."""
    squares = {name: (g**2).sum() for name, g in grads.items()}
    sharded = sum(squares[name] for name in grads if "data" in specs[name])
    replicated = sum(squares[name] for name in grads if "data" not in specs[name])
    return jnp.sqrt(lax.psum(sharded, "data") + replicated)


def check(global_norm):
    """Raise AssertionError, with what to look at, unless `global_norm` is right.

    global_norm(grads, specs): the shards of four gradients on each of eight devices,
    and their specs, to one number, float32 ().
    """
    whole = {
        name: np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 7
        for name, shape in SHAPES.items()
    }
    squares = {name: float((g**2).sum()) for name, g in whole.items()}
    expected, replicated = sum(squares.values()), squares["bias"]

    def body(grads):
        found = global_norm(grads, SPECS)
        assert isinstance(found, jax.Array) and found.shape == (), (
            f"the norm is one number; yours: {np.shape(found) or found}"
        )
        return found

    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        given = jax.device_put(whole, SPECS)
        mapped = jax.jit(jax.shard_map(body, in_specs=(SPECS,), out_specs=P()))
        try:
            norm = float(mapped(given))
        except ValueError as error:
            if "replication" in str(error):
                raise AssertionError(
                    "the devices return different norms: each saw its own shards only"
                ) from None
            raise
        moved = sum(sent.moved for sent in sends(mapped.lower(given)))
    assert not np.isclose(norm**2, expected + 7 * replicated), (
        "the squares of the replicated gradient are counted eight times"
    )
    assert np.isclose(norm**2, expected), (
        f"the norm is {expected**0.5:.3f}, yours is {norm:.3f}: "
        "add the squares of all shards, and take the root last"
    )
    assert moved <= 64 or jax.default_backend() != "cpu", (
        f"{moved} bytes are communicated; one number of each device is enough"
    )
    print("The check passes.")


def mistake_counts_the_replicated_eight_times(grads, specs):
    """You put the replicated bias under the `psum`, so it counts eight times."""
    squares = sum((g**2).sum() for g in grads.values())
    return jnp.sqrt(lax.psum(squares, "data"))


def mistake_takes_its_own_norm(grads, specs):
    """You took the norm of one device's shards, without a `psum`."""
    return jnp.sqrt(sum((g**2).sum() for g in grads.values()))


def mistake_adds_norms(grads, specs):
    """You took the root on each device, and added roots instead of squares."""
    sharded = [g for name, g in grads.items() if "data" in specs[name]]
    own = jnp.sqrt(sum((g**2).sum() for g in sharded))
    return lax.psum(own, "data") + jnp.sqrt((grads["bias"] ** 2).sum())


def mistake_gathers_the_gradients(grads, specs):
    """You gathered every gradient, where one number of each device is enough."""
    full = {
        name: lax.all_gather(
            g, "data", axis=specs[name].index("data"), tiled=True, to="invarying"
        )
        if "data" in specs[name]
        else g
        for name, g in grads.items()
    }
    return jnp.sqrt(sum((g**2).sum() for g in full.values()))
