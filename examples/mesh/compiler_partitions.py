"""Hand `jit` arrays that are split, and see what it makes of them.

Why it is hard: on Auto axes you write for whole arrays, and the compiler decides where
every value in between lies. That decides what is sent, and no line of the code says it.
What finishes it: ask where a value was put, count the bytes of the collectives, and pin
the one value that matters by `with_sharding_constraint`.

Run it: `python -m examples.mesh.compiler_partitions`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.tools.traffic import sends

WIDTH, HIDDEN = 64, 256
BOTH = ("batch", "model")
ROWS, COLUMNS = P("batch"), P(None, BOTH)  # of what lies between the two layers
PAIRS = P(None, "model"), P("model")  # weights in halves: four copies of each half
EIGHTHS = P(None, BOTH), P(BOTH)  # weights in eighths: a piece for each device


def network(x, up, down, pin=None):
    """Return two layers of `x`, (n, 64): up to (n, 256) and down again.

    pin: a sharding for what lies between the layers; None leaves it open.
    """
    hidden = jnp.maximum(x @ up, 0)
    if pin is not None:
        hidden = lax.with_sharding_constraint(hidden, pin)
    return hidden @ down


def reference(x, up, down):
    """Return the two layers of `x` by NumPy."""
    return np.maximum(np.asarray(x) @ np.asarray(up), 0) @ np.asarray(down)


def numbers(count):
    """Return `count` rows and both weights, as small whole numbers in float32."""
    shapes = (count, WIDTH), (WIDTH, HIDDEN), (HIDDEN, WIDTH)
    tables = (np.add.outer(3 * np.arange(n), np.arange(k) ** 2) for n, k in shapes)
    return tuple((table % 5 - 2).astype(np.float32) for table in tables)


def placed(mesh, count, weights):
    """Return the numbers on `mesh`: rows split as ROWS, weights as `weights` says."""
    places = tuple(NamedSharding(mesh, spec) for spec in (ROWS, *weights))
    return jax.device_put(numbers(count), places)


def pinned(mesh, spec):
    """Return the jitted network; `spec` is of what lies between, None leaves it."""
    pin = None if spec is None else NamedSharding(mesh, spec)
    return jax.jit(partial(network, pin=pin))


def between(x, up, down):
    """Return how the compiler splits what lies between the layers, as a spec."""
    seen = []

    def watched(x, up, down):
        hidden = jnp.maximum(x @ up, 0)
        jax.debug.inspect_array_sharding(hidden, callback=seen.append)
        return hidden @ down

    jax.jit(watched).lower(x, up, down).compile()
    return seen[-1].spec


def lower(mesh):
    """Lower the network for a mesh of any size: rows stay, weights are sent."""
    return _lower(mesh, ROWS)


def lower_columns(mesh):
    """Lower the same network with the columns pinned: rows are sent."""
    return _lower(mesh, COLUMNS)


def lower_open(mesh):
    """Lower the same network with nothing pinned."""
    return _lower(mesh, None)


def _lower(mesh, spec):
    """1 MiB of rows, and half a MiB of each weight, on each device."""
    grid = Mesh(mesh.devices.reshape(-1, 2), BOTH, axis_types=(AxisType.Auto,) * 2)
    width, hidden, rows = 1024, 128 * mesh.size, 128 * mesh.size
    shapes = (rows, width), (width, hidden), (hidden, width)
    inputs = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(grid, split))
        for shape, split in zip(shapes, (ROWS, *EIGHTHS), strict=True)
    ]
    return pinned(grid, spec).lower(*inputs)


def main():
    """Run the network in all layouts, and print what one device sends.

    >>> main()
    128 rows, weights in halves        8,192 bytes
        and pinned by rows            24,576 bytes
    128 rows, weights in eighths      81,920 bytes
        and pinned by rows           114,688 bytes
    1024 rows, weights in eighths    114,688 bytes
        and pinned by columns        655,360 bytes
    """
    mesh = jax.make_mesh((4, 2), BOTH, axis_types=(AxisType.Auto,) * 2)
    cases = [
        ("128 rows, weights in halves", 128, PAIRS, None),
        ("    and pinned by rows", 128, PAIRS, ROWS),
        ("128 rows, weights in eighths", 128, EIGHTHS, None),
        ("    and pinned by rows", 128, EIGHTHS, ROWS),
        ("1024 rows, weights in eighths", 1024, EIGHTHS, None),
        ("    and pinned by columns", 1024, EIGHTHS, COLUMNS),
    ]
    for name, count, weights, spec in cases:
        args, fn = placed(mesh, count, weights), pinned(mesh, spec)
        assert np.array_equal(fn(*args), reference(*args)), name
        moved = sum(sent.moved for sent in sends(fn.lower(*args)))
        print(f"{name:30} {moved:9,} bytes")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
