"""Multiply two matrices on Auto, Explicit and Manual axes.

Why it is hard: the three modes take the same arrays and return the same numbers, but
each listens to other words; what one of them needs, another refuses.
What finishes it: one product in the three modes, side by side, and what the code is
told of its array in each of them.

Run it: `python -m examples.mesh.three_modes`
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.tools.traffic import sends

A, B = P("rows", "inner"), P("inner", None)  # the inner axis of the product is split
ANSWER = P("rows", None)


class Told(NamedTuple):
    """What the type of an array says where the code runs."""

    shape: tuple
    split_as: P
    varies_over: list


def reference(a, b):
    """Return `a @ b` by NumPy."""
    return np.asarray(a) @ np.asarray(b)


def by_auto(mesh):
    """Return a function from split a and b to `a @ b`: nothing is said."""
    return jax.jit(jnp.matmul)


def by_explicit(mesh):
    """Return the same for an Explicit mesh: you say how the answer is split."""
    answer = NamedSharding(mesh, ANSWER)
    return jax.jit(partial(jnp.matmul, out_sharding=answer))


def one_device(a, b):
    """Return a device's rows of the answer, (1, 3), from blocks (1, 2) and (2, 3)."""
    return lax.psum(a @ b, "inner")


def by_manual(mesh):
    """Return the same by `shard_map`: you say what one device does, and sends."""
    specs = {"in_specs": (A, B), "out_specs": ANSWER}
    return jax.jit(jax.shard_map(one_device, mesh=mesh, **specs))


def matrices():
    """Return a, (4, 4), and b, (4, 3): whole numbers as float32 NumPy arrays."""
    a = np.arange(16, dtype=np.float32).reshape(4, 4)
    return a, np.arange(12, dtype=np.float32).reshape(4, 3) % 5


def put(a, b, mesh):
    """Return a and b on `mesh`, split as A and B."""
    return jax.device_put((a, b), (NamedSharding(mesh, A), NamedSharding(mesh, B)))


def told(way, x):
    """Return what a body that `way` runs is told of `x`; nothing is computed."""
    found = []

    def body(x):
        kind = jax.typeof(x)
        varies = sorted(kind.manual_axis_type.varying)
        found.append(Told(kind.shape, kind.sharding.spec, varies))
        return x

    jax.eval_shape(way(body), x)
    return found[0]


def lower(mesh):
    """Lower the Explicit product for a mesh of any size: 4 MiB of a on each device."""
    return _lower(mesh, by_explicit, AxisType.Explicit)


def lower_auto(mesh):
    """Lower the Auto product for the same matrices."""
    return _lower(mesh, by_auto, AxisType.Auto)


def lower_manual(mesh):
    """Lower the Manual product for the same matrices."""
    return _lower(mesh, by_manual, AxisType.Explicit)


def _lower(mesh, way, kind):
    pairs = mesh.devices.reshape(-1, 2)
    grid = Mesh(pairs, ("rows", "inner"), axis_types=(kind,) * 2)
    shapes = [((512 * mesh.size, 2048), A), ((2048, 1024), B)]
    inputs = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(grid, spec))
        for shape, spec in shapes
    ]
    return way(grid).lower(*inputs)


def main():
    """Multiply in the three modes, compare with NumPy, and count what is sent.

    >>> main()
    Auto:     right, whole rows on each device, 1 collective
    Explicit: right, whole rows on each device, 1 collective
    Manual:   right, whole rows on each device, 1 collective
    """
    shape, names, types = (4, 2), ("rows", "inner"), (AxisType.Auto,) * 2
    explicit = jax.make_mesh(shape, names)
    auto = jax.make_mesh(shape, names, axis_types=types)
    whole = matrices()
    ways = {
        "Auto": (by_auto, auto),
        "Explicit": (by_explicit, explicit),
        "Manual": (by_manual, explicit),
    }
    for name, (way, mesh) in ways.items():
        a, b = put(*whole, mesh)
        product = way(mesh)
        answer = product(a, b)
        assert np.array_equal(answer, reference(*whole)), name
        assert answer.sharding.shard_shape(answer.shape) == (1, 3), name
        count = len(sends(product.lower(a, b)))
        said = f"right, whole rows on each device, {count} collective"
        print(f"{name + ':':9} {said}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
