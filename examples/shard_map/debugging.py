"""Look into a body that eight devices run, at their values and at what they send.

Why it is hard: Python runs the body once for all devices, under `jit` with no values at
all, and one wrong row on one device ends as a NaN far away.
What finishes it: run it without `jit`, where each value is there, for all devices at
once; ask for the line that made the NaN; and read what the compiled program sends.

Run it: `python -m examples.shard_map.debugging`
"""

import io
import traceback
from pdb import Pdb

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.tools.traffic import sends

ROWS, WHOLE = P("rows"), P()


def shares(x):
    """Return every number's share of the sum of its row: (m, k) to (m, k)."""
    sums = x.sum(axis=1, keepdims=True)
    return x / sums


def zero_row():
    """Return whole numbers, float32 (8, 4) by NumPy; one row is all zeros."""
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    x[5] = 0
    return x


def over(mesh, body, spec=ROWS):
    """Return `body` mapped over `mesh`, cut and joined by `spec`; it is not jitted."""
    return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec)


def typed(*commands):
    """Return a debugger that reads `commands` instead of your keys, and its output."""
    said = io.StringIO()
    keys = io.StringIO("\n".join([*commands, "continue", ""]))
    debugger = Pdb(stdin=keys, stdout=said, nosigint=True, readrc=False)
    debugger.prompt = "(Pdb) "  # a notebook's debugger would say ipdb
    return debugger, said


def nan_line(fn, *args, body):
    """Return the line of the function `body` that made the first NaN of `fn(*args)`.

    Raises AssertionError when there is none.
    """
    try:
        with jax.debug_nans(True):
            jax.block_until_ready(fn(*args))
    except FloatingPointError as error:
        frames = traceback.extract_tb(error.__traceback__)
        return [frame.line for frame in frames if frame.name == body.__name__][-1]
    raise AssertionError("no NaN was made")


def complaint(fn, *args):
    """Return what the ValueError of `fn(*args)` says, up to the first colon.

    Raises AssertionError when there is none.
    """
    try:
        fn(*args)
    except ValueError as error:
        return str(error).partition(":")[0]
    raise AssertionError("no ValueError was raised")


def lower(mesh):
    """Lower `shares`, split by rows, for a mesh of any size: 256 MiB in all."""
    return lower_whole(mesh, ROWS)


def lower_whole(mesh, spec=WHOLE):
    """Lower `shares` for a mesh of any size, where every device asks for all rows."""
    rows = mesh.size * (524_288 // mesh.size)
    auto = Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Auto,))
    split = NamedSharding(auto, ROWS)
    x = jax.ShapeDtypeStruct((rows, 128), jnp.float32, sharding=split)
    return jax.jit(over(auto, shares, spec)).lower(x)


def main():
    """Find the row that makes a NaN and the line that does, and what is sent.

    >>> main()
    NaN in row 5, made by: return x / sums
    without jit, the body sees eight blocks of (1, 4): True
    every device asks for all rows: all-gather
    every device asks for its own: nothing
    """
    mesh = jax.make_mesh((8,), ("rows",))
    x = jax.device_put(zero_row(), NamedSharding(mesh, ROWS))
    answer = jax.jit(over(mesh, shares))(x)
    [row] = np.flatnonzero(np.isnan(answer).any(axis=1))
    print(f"NaN in row {row}, made by: {nan_line(over(mesh, shares), x, body=shares)}")

    prompt, said = typed("p x.shape", "p str(x).count('at mesh coordinates')")

    def stopped(x):
        prompt.set_trace()
        return shares(x)

    over(mesh, stopped)(x)
    eight = "(Pdb) (1, 4)\n(Pdb) 8\n" in said.getvalue()
    assert eight
    print(f"without jit, the body sees eight blocks of (1, 4): {eight}")

    kinds = [sent.kind for sent in sends(lower_whole(mesh))]
    assert kinds == ["all-gather"] and sends(lower(mesh)) == []
    print(f"every device asks for all rows: {kinds[0]}")
    print("every device asks for its own: nothing")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
