"""Multiply two split matrices, in each of the four cases, in each of three modes.

Why it is hard: how two matrices are split decides whether a product needs anything from
other devices, and nothing in `a @ b` says so.
What finishes it: look at the inner axis, which the product sums over. Split in neither
matrix, in one, in both: these are three cases; the fourth is when both outer axes are
split over the same devices. Each has its collective, whoever writes it: the compiler
(Auto), you by the sharding of the answer (Explicit), or you by its name (Manual).

Run it: `python -m examples.shard_map.matmul_four_cases`
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.tools.traffic import sends

ROWS, COLUMNS, WHOLE = P("model", None), P(None, "model"), P(None, None)
MODES = "Auto", "Explicit", "Manual"


class Case(NamedTuple):
    """How both matrices and their product are split, and what one device does."""

    a: P
    b: P
    product: P
    body: Callable  # of the blocks of a and b that a device holds


def reference(a, b):
    """Return `a @ b`, by NumPy."""
    return np.asarray(a) @ np.asarray(b)


def bodies():
    """Return what one device does with its blocks of a and b, in cases 1 to 4."""

    def gather_the_rows_of_b(a, b):
        return a @ lax.all_gather(b, "model", axis=0, tiled=True)

    def add_the_parts(a, b):
        return lax.psum(a @ b, "model")

    def gather_the_columns_of_b(a, b):
        return a @ lax.all_gather(b, "model", axis=1, tiled=True)

    return jnp.matmul, gather_the_rows_of_b, add_the_parts, gather_the_columns_of_b


def cases():
    """Return `{number: Case}`, 1 to 4."""
    first, second, third, fourth = bodies()
    return {
        1: Case(ROWS, WHOLE, ROWS, first),
        2: Case(ROWS, ROWS, ROWS, second),
        3: Case(COLUMNS, ROWS, WHOLE, third),
        4: Case(ROWS, COLUMNS, ROWS, fourth),
    }


def multiply(case, mode, mesh):
    """Return a function that multiplies a and b, split over `mesh` as `case` says."""
    specs = {"in_specs": (case.a, case.b), "out_specs": case.product}
    split = NamedSharding(mesh, case.product)
    return {
        "Auto": jax.jit(jnp.matmul),
        "Explicit": jax.jit(partial(jnp.matmul, out_sharding=split)),
        "Manual": jax.jit(jax.shard_map(case.body, mesh=mesh, **specs)),
    }[mode]


def mesh_for(mode, mesh):
    """Return `mesh` with axes of the type that `mode` asks for."""
    kind = AxisType.Auto if mode == "Auto" else AxisType.Explicit
    return Mesh(mesh.devices, mesh.axis_names, axis_types=(kind,) * mesh.devices.ndim)


def put(case, mesh, a, b):
    """Return a and b on the devices of `mesh`, split as `case` says."""
    splits = NamedSharding(mesh, case.a), NamedSharding(mesh, case.b)
    return jax.device_put((a, b), splits)


def panels(case, mesh):
    """Return a, b and their product as labels and arrays, split as `case` says."""
    a, b = put(case, mesh, *matrices())
    product = multiply(case, "Manual", mesh)(a, b)
    return [("a", a), ("b", b), ("a @ b", product)]


def abstract(case, mesh, rows, inner, columns, dtype=jnp.float32):
    """Return the shapes of a, (rows, inner), and b, (inner, columns), split."""
    return [
        jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))
        for shape, spec in [((rows, inner), case.a), ((inner, columns), case.b)]
    ]


def sent(case, mode, mesh, *sizes):
    """Return (kind, bytes a device sends) of each collective; sizes as `abstract`."""
    mesh = mesh_for(mode, mesh)
    lowered = multiply(case, mode, mesh).lower(*abstract(case, mesh, *sizes))
    return [(found.kind, found.moved) for found in sends(lowered)]


def matrices():
    """Return a and b, (16, 16) each: whole numbers as float32 NumPy arrays."""
    numbers = np.arange(256, dtype=np.float32).reshape(16, 16)
    return numbers % 10, numbers % 7


def lower(mesh, number=4):
    """Lower a case in Explicit mode, in groups of eight, each with rows of its own.

    In a group a, b and the product are (4096, 4096) float32: 64 MiB where they are
    whole, 8 MiB on each device where they are split.
    """
    kinds = (AxisType.Explicit,) * 2
    grid = Mesh(mesh.devices.reshape(-1, 8), ("batch", "model"), axis_types=kinds)
    case = cases()[number]
    case = case._replace(a=in_groups(case.a), product=in_groups(case.product))
    inputs = abstract(case, grid, 512 * mesh.size, 4096, 4096)
    return multiply(case, "Explicit", grid).lower(*inputs)


def in_groups(spec):
    """Return `spec` with the rows divided among groups of devices first."""
    first, second = spec
    return P(("batch", first) if first else "batch", second)


def lower_case_1(mesh):
    """Lower the case of no inner axis split."""
    return lower(mesh, 1)


def lower_case_2(mesh):
    """Lower the case of one inner axis split."""
    return lower(mesh, 2)


def lower_case_3(mesh):
    """Lower the case of both inner axes split."""
    return lower(mesh, 3)


def main(devices=None):
    """Multiply in each case and mode, compare with NumPy, and print what is sent.

    >>> main()
    case 1: equal in 3 modes, each sends nothing
    case 2: equal in 3 modes, each sends all-gather, 896 bytes
    case 3: equal in 3 modes, each sends all-reduce, 1792 bytes
    case 4: equal in 3 modes, each sends all-gather, 896 bytes
    """
    if devices is None:
        devices = jax.devices() if jax.device_count() >= 8 else jax.devices("cpu")
    mesh = jax.make_mesh((8,), ("model",), devices=devices[:8])
    whole_a, whole_b = matrices()
    expected = reference(whole_a, whole_b)
    for number, case in cases().items():
        found = set()
        for mode in MODES:
            typed = mesh_for(mode, mesh)
            inputs = put(case, typed, whole_a, whole_b)
            assert np.array_equal(multiply(case, mode, typed)(*inputs), expected)
            found |= {tuple(sent(case, mode, mesh, 16, 16, 16))}
        [same] = found
        what = "; ".join(f"{kind}, {size} bytes" for kind, size in same) or "nothing"
        print(f"case {number}: equal in {len(MODES)} modes, each sends {what}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
