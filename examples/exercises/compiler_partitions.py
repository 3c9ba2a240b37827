"""Keep rows where they are through three layers, while weights come and go.

Given a mesh (4, 2) of Auto axes "batch" and "model", return a jitted function of rows
(n, 64), sharded over "batch", and weights (64, 256), (256, 256) and (256, 64), each
sharded over both axes. It returns three layers of the rows, with nothing negative
between them, (n, 64) sharded over "batch", and each device sends as many bytes for any
number of rows.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, NamedSharding

from examples.mesh.compiler_partitions import BOTH
from examples.tools.traffic import sends

ROWS, COLUMNS = P("batch"), P(None, BOTH)
SHAPES = (64, 256), (256, 256), (256, 64)
EIGHTHS = COLUMNS, COLUMNS, P(BOTH)


def solution(mesh):
    """Return the jitted layers, with rows constrained after each of the first two."""
    by_rows = NamedSharding(mesh, P("batch"))

    def network(x, first, second, third):
        hidden = jnp.maximum(x @ first, 0)
        hidden = lax.with_sharding_constraint(hidden, by_rows)
        hidden = jnp.maximum(hidden @ second, 0)
        hidden = lax.with_sharding_constraint(hidden, by_rows)
        return hidden @ third

    return jax.jit(network)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(mesh): a jitted function of float32 (n, 64) and three weights to (n, 64).
    """
    mesh = jax.make_mesh((4, 2), BOTH, axis_types=(AxisType.Auto,) * 2)
    with jax.set_mesh(mesh):
        fn, sent = make(mesh), {}
    for count in (128, 2048):
        whole = [table(shape) for shape in ((count, 64), *SHAPES)]
        places = [NamedSharding(mesh, spec) for spec in (ROWS, *EIGHTHS)]
        args = jax.device_put(whole, places)
        try:
            with jax.set_mesh(mesh):
                found = fn(*args)
        except TypeError:
            found = None
        shape = np.shape(found)
        assert shape == (count, 64), (
            f"{count} rows: the answer has to come back as {(count, 64)}; "
            f"yours has shape {shape}"
        )
        x, first, second, third = whole
        hidden = np.maximum(np.maximum(x @ first, 0) @ second, 0)
        assert np.array_equal(found, hidden @ third), (
            "the numbers differ from NumPy's three layers"
        )
        split = found.sharding.spec
        assert found.sharding.is_equivalent_to(places[0], 2), (
            f'{count} rows: the answer has to be sharded as P("batch"), '
            f"yours is sharded as {split}"
        )
        with jax.set_mesh(mesh):
            sent[count] = sum(one.moved for one in sends(fn.lower(*args)))
    fewer, more = sent.values()
    assert fewer == more, (
        f"each device sends {fewer:,} bytes for 128 rows and {more:,} for 2048: "
        "which value between the layers is still free to move?"
    )
    print("The check passes.")


def table(shape):
    """Return small whole numbers of that shape, float32."""
    n, k = shape
    return (np.add.outer(3 * np.arange(n), np.arange(k) ** 2) % 3 - 1).astype("f4")


def layers(x, first, second, third, pins):
    """Return the three layers; `pins` are for what lies after the first and second."""
    hidden = jnp.maximum(x @ first, 0)
    hidden = lax.with_sharding_constraint(hidden, pins[0]) if pins[0] else hidden
    hidden = jnp.maximum(hidden @ second, 0)
    hidden = lax.with_sharding_constraint(hidden, pins[1]) if pins[1] else hidden
    return hidden @ third


def mistake_pins_the_end(mesh):
    """You constrained only the result, so the compiler chose what comes before it."""
    network = partial(layers, pins=(None, None))
    return jax.jit(network, out_shardings=NamedSharding(mesh, ROWS))


def mistake_pins_once(mesh):
    """You constrained the hidden rows of the first layer, but not of the second."""
    network = partial(layers, pins=(NamedSharding(mesh, ROWS), None))
    return jax.jit(network, out_shardings=NamedSharding(mesh, ROWS))


def mistake_follows_the_weights(mesh):
    """You sharded the hidden values by columns, like the weights, so the rows moved."""
    columns = NamedSharding(mesh, COLUMNS)
    network = partial(layers, pins=(columns, columns))
    return jax.jit(network, out_shardings=NamedSharding(mesh, ROWS))
