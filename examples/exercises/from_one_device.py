"""Number the rows of an array from inside a function that sees a few of them.

Given the shard (m, k) of one device, of an array whose rows are sharded over the mesh
axis "data", return the numbers that these m rows have in the whole array, counted from
0: integers (m,).
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def solution(x):
    """Return where this device's rows begin in the array, counted on."""
    first = lax.axis_index("data") * x.shape[0]
    return first + jnp.arange(x.shape[0])


def check(number):
    """Raise AssertionError, with what to look at, unless the function is right.

    number(x): float32 (m, k), the shard of one device, to integers (m,).
    """

    def checked(x):
        found = number(x)
        assert np.shape(found) == x.shape[:1], (
            f"the numbers of a shard {x.shape} are an array of shape {x.shape[:1]}; "
            f"yours has shape {np.shape(found)}"
        )
        return found

    for count, n in [(8, 16), (8, 8), (8, 24), (4, 12), (1, 5)]:
        mesh = jax.make_mesh((count,), ("data",), devices=jax.devices()[:count])
        with jax.set_mesh(mesh):
            x = jax.device_put(np.ones((n, 2), np.float32), P("data"))
            found = jax.shard_map(checked, in_specs=P("data"), out_specs=P("data"))(x)
        assert np.array_equal(found, np.arange(n)), (
            f"{n} rows on {count} devices have the numbers 0 to {n - 1}; "
            f"yours are {np.asarray(found)}: which device is this, and how many rows "
            "lie on the devices before it?"
        )
    print("The check passes.")


def mistake_counts_its_own(x):
    """You counted from 0 on every device, as if the shard were the whole array."""
    return jnp.arange(x.shape[0])


def mistake_has_one_row(x):
    """You began at the device's number, as if each device held one row."""
    return lax.axis_index("data") + jnp.arange(x.shape[0])


def mistake_takes_turns(x):
    """You numbered every n-th row, but a shard has consecutive rows of the array."""
    devices = lax.axis_size("data")
    return lax.axis_index("data") + devices * jnp.arange(x.shape[0])


def mistake_returns_one_number(x):
    """You returned the number of the first row only, not one for each row."""
    return lax.axis_index("data") * x.shape[0]
