"""Take pmap apart: what it records, what it returns, and what reading a row costs.

Why it is hard: `pmap` kept its name and its arguments when it was rebuilt on `jit` and
`shard_map`, so texts about the old one still run, and describe what is gone.
What finishes it: write the few lines that it is today, compare what both record and
compile to, and ask the result where it lies.

Run it: `python -m examples.pmap.what_it_is_today`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import Mesh

from examples.jit.ordering import outline, program
from examples.vmap.what_it_does import equations


def center(row):
    """Return a row less the mean of all rows: (k,) gives (k,)."""
    return row - lax.pmean(row, "rows")


def by_hand(fn, devices):
    """Return what `jax.pmap(fn, "rows")` is, for one argument."""

    def body(piece):
        out = fn(lax.squeeze(piece, [0]))
        return lax.expand_dims(out, [0])

    mesh = Mesh(np.array(devices), ("rows",))
    specs = {"in_specs": P("rows"), "out_specs": P("rows")}
    return jax.jit(jax.shard_map(body, mesh=mesh, check_vma=False, **specs))


def the_shard_map(fn, *args):
    """Return the parameters of the one `shard_map` that `fn` records."""
    found = equations(jax.make_jaxpr(fn)(*args))
    [one] = [each for each in found if each.primitive.name == "shard_map"]
    return one.params


def seen_by(way, x):
    """Return the shape that a body sees when `way` maps it over `x`."""
    shapes = []

    def body(piece):
        shapes.append(piece.shape)
        return piece

    jax.eval_shape(way(body), x)
    return shapes[0]


def first(y):
    """Return the first row: (m, k) gives (k,)."""
    return y[0]


def total(row):
    """Return the sum of all rows, the same on each device: (k,) gives (k,)."""
    return lax.psum(row, "rows")


def numbers():
    """Return whole numbers, float32 (8, 3), in NumPy: a row for each device."""
    return np.arange(24, dtype=np.float32).reshape(8, 3)


def lower(mesh):
    """Lower the pmap written by hand for a mesh of any size, a row for each device."""
    row_each = jax.ShapeDtypeStruct((mesh.size, 3), jnp.float32)
    return by_hand(center, list(mesh.devices.flat)).lower(row_each)


def main():
    """Compare pmap with the lines that it is.

    >>> main()
    (8, 3) gives (8, 3), and each device holds (1, 3)
    pmap records what the lines record: True
    pmap compiles to what they compile to: True
    it checks what varies: False
    """
    x = numbers()
    mapped = jax.pmap(center, axis_name="rows")
    ways = mapped, by_hand(center, jax.devices())
    answers = [way(x) for way in ways]
    assert np.array_equal(*answers)
    held = answers[0].addressable_shards[0].data.shape
    print(f"{x.shape} gives {answers[0].shape}, and each device holds {held}")
    recorded = {outline(jax.make_jaxpr(way)(x)) for way in ways}
    print(f"pmap records what the lines record: {len(recorded) == 1}")
    compiled = {program(way, x) for way in ways}
    print(f"pmap compiles to what they compile to: {len(compiled) == 1}")
    print(f"it checks what varies: {the_shard_map(mapped, x)['check_vma']}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
