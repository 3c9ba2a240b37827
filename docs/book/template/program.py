"""TODO: a verb sentence that says what this program does.

Why it is hard: TODO
What finishes it: TODO

Run it: `python -m examples.FOLDER.NAME`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

ROWS = P("rows")  # cut along the first axis, one piece for each device


def reference(x):
    """Return `x`, (n,), less its lowest number, on one device."""
    return x - x.min()


def above_lowest(x, mesh):
    """Return `x` less its lowest number; `x` and the answer are split as ROWS."""

    def subtract(x):
        lowest = lax.pmin(x.min(), "rows")  # of this piece, then of all pieces
        return x - lowest

    return jax.shard_map(subtract, mesh=mesh, in_specs=ROWS, out_specs=ROWS)(x)


def numbers():
    """Return sixteen whole numbers, float32 (16,)."""
    return np.arange(16, dtype=np.float32) * 5 % 16 + 3


def lower(mesh):
    """Lower `above_lowest` for a mesh of any size, two numbers for each device."""
    rows = NamedSharding(mesh, ROWS)
    x = jax.ShapeDtypeStruct((2 * mesh.size,), jnp.float32, sharding=rows)
    return jax.jit(above_lowest, static_argnames="mesh").lower(x, mesh)


def main(devices=None):
    """Run it on eight devices and compare with one.

    >>> main()
    x (16,), on each of 8 devices (2,)
    eight devices equal one: True
    """
    if devices is None:
        devices = jax.devices() if jax.device_count() >= 8 else jax.devices("cpu")
    mesh = jax.make_mesh((8,), ("rows",), devices=devices[:8])
    x = jax.device_put(numbers(), NamedSharding(mesh, ROWS))
    piece = x.sharding.shard_shape(x.shape)
    print(f"x {x.shape}, on each of {mesh.size} devices {piece}")
    equal = np.array_equal(above_lowest(x, mesh), reference(numbers()))
    assert equal
    print(f"eight devices equal one: {equal}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
