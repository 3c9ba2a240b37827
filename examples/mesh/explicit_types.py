"""Read from its type how an array is split, and say it where the types cannot tell.

Why it is hard: with Explicit axes each operation has to compute how its result is
split, and where there are two good answers it refuses to pick one.
What finishes it: ask for the types without computing anything; then name the answer by
`out_sharding`, move an operand by `reshard`, or hand one function to the compiler by
`auto_axes`.

Run it: `python -m examples.mesh.explicit_types`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType, Mesh, NamedSharding, auto_axes

from examples.tools.traffic import sends

GRID = P("rows", "inner")  # x: both its axes are split
BY_ROWS = P("rows", None)


def reference(x, weights):
    """Return `x @ weights` by NumPy."""
    return np.asarray(x) @ np.asarray(weights)


def split_of(fn, *args):
    """Return how the answer of `fn` is split, told from types; nothing is computed."""
    return jax.eval_shape(fn, *args).sharding.spec


def in_two_splits(mesh):
    """Return what jits a function and calls it for one array, split in two ways."""

    def use(f):
        jitted = jax.jit(f)
        for spec in (P("rows"), P(None, "inner")):
            jitted(jax.device_put(np.ones((8, 8)), NamedSharding(mesh, spec)))

    return use


def naming_the_answer(x, weights):
    """Return `x @ weights` split as BY_ROWS: each device adds, over "inner"."""
    return jnp.matmul(x, weights, out_sharding=BY_ROWS)


def moving_an_operand(x, weights):
    """Return the same: first every device gets whole rows of x, and all weights."""
    return jax.reshard(x, BY_ROWS) @ jax.reshard(weights, P())


def handing_it_over(x, weights):
    """Return the same: in the body axes are Auto, so the compiler decides there."""
    return auto_axes(jnp.matmul, out_sharding=BY_ROWS)(x, weights)


CURES = naming_the_answer, moving_an_operand, handing_it_over


def operands(mesh):
    """Return x, (8, 8) split as GRID, and weights, (8, 4) split over "inner"."""
    x = np.arange(64, dtype=np.float32).reshape(8, 8) % 5
    weights = np.arange(32, dtype=np.float32).reshape(8, 4) % 3
    places = NamedSharding(mesh, GRID), NamedSharding(mesh, P("inner", None))
    return jax.device_put((x, weights), places)


def lower(mesh):
    """Lower `naming_the_answer` for a mesh of any size: 4 MiB of x on each device."""
    return _lower(mesh, naming_the_answer)


def lower_moving(mesh):
    """Lower `moving_an_operand` for the same operands."""
    return _lower(mesh, moving_an_operand)


def _lower(mesh, product):
    pairs, explicit = mesh.devices.reshape(-1, 2), (AxisType.Explicit,) * 2
    grid = Mesh(pairs, ("rows", "inner"), axis_types=explicit)
    shapes = [((512 * mesh.size, 2048), GRID), ((2048, 1024), P("inner", None))]
    inputs = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(grid, spec))
        for shape, spec in shapes
    ]
    with jax.set_mesh(grid):
        return jax.jit(product).lower(*inputs)


def main():
    """Multiply in three ways where the types cannot tell, and print what is sent.

    >>> main()
    naming_the_answer: right, ['all-reduce']
    moving_an_operand: right, ['all-gather', 'all-gather']
    handing_it_over: right, ['all-reduce']
    """
    mesh = jax.make_mesh((4, 2), ("rows", "inner"))
    x, weights = operands(mesh)
    with jax.set_mesh(mesh):
        for product in CURES:
            assert split_of(product, x, weights) == BY_ROWS
            answer = jax.jit(product)(x, weights)
            assert np.array_equal(answer, reference(x, weights))
            sent = [one.kind for one in sends(jax.jit(product).lower(x, weights))]
            print(f"{product.__name__}: right, {sent}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
