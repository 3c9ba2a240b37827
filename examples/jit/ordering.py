"""Put `jit` and a map around one function in every order, and compare.

Why it is hard: all orders return the same numbers, so nothing tells you which of them
you pay for, and what you pay for is not arithmetic.
What finishes it: count how often Python runs the function, read what each order
records, and compare the compiled programs.

Run it: `python -m examples.jit.ordering`
"""

import re
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import Mesh, NamedSharding

from examples.tools.tracing import traces
from examples.vmap.what_it_does import normalized_hlo


def reference(v, u):
    """Return the dot products of all rows, (n,), without any map."""
    return (v * u).sum(axis=1)


def dot(v, u):
    """Return the dot product of two rows, (k,) and (k,), as a scalar."""
    return jnp.vdot(v, u)


def rows():
    """Return two arrays of whole numbers, float32 (8, 3): a row for each device."""
    numbers = jnp.arange(24.0).reshape(8, 3)
    return numbers, numbers % 7


def orders(in_axes=0):
    """Return `{name: way}`: `way(f)` maps f over `in_axes`, as the name says."""
    vmap = partial(jax.vmap, in_axes=in_axes)
    pmap = partial(jax.pmap, in_axes=in_axes)
    return {
        "jit(vmap)": lambda f: jax.jit(vmap(f)),
        "vmap(jit)": lambda f: vmap(jax.jit(f)),
        "vmap": vmap,
        "jit(pmap)": lambda f: jax.jit(pmap(f)),
        "pmap(jit)": lambda f: pmap(jax.jit(f)),
        "pmap": pmap,
    }


def made_anew(f):
    """Return `f` mapped by a `jit(vmap)` that is made again in every call."""
    return lambda *args: jax.jit(jax.vmap(f))(*args)


def four_calls(way, *args):
    """Return what maps a function by `way`, and calls it four times with `args`."""

    def use(f):
        mapped = way(f)
        for _ in range(4):
            mapped(*args)

    return use


def outline(jaxpr, without=()):
    """Return a jaxpr's primitives in order, what is inside of them in brackets.

    Primitives named in `without` are left out, and their insides take their place.
    """
    words = []
    for equation in jaxpr.eqns:
        name, values = equation.primitive.name, equation.params.values()
        inside = [outline(value, without) for value in values if hasattr(value, "eqns")]
        if name in without:
            words += inside
        else:
            words.append(f"{name}({', '.join(inside)})" if inside else name)
    return ", ".join(words)


def program(fn, *args):
    """Return the HLO that `jit(fn)` runs, with names in it numbered as they appear.

    An inner `jit` shifts the numbers that XLA gives to names, and nothing else.
    """
    names = {}
    return re.sub(
        r"%([\w.-]+)|\b([\w.-]+)(?=: \w+\[)",
        lambda found: names.setdefault(found[1] or found[2], f"%{len(names)}"),
        normalized_hlo(fn, *args),
    )


def power(x, n):
    """Return x to the power n, where n is a Python int: Python unrolls the loop."""
    result = x
    for _ in range(n - 1):
        result = result * x
    return result


def lower(mesh):
    """Lower `jit(pmap)` for a mesh of any size, with one row for each device."""
    devices = sorted(mesh.devices.flat, key=lambda device: device.id)  # pmap's order
    rows = NamedSharding(Mesh(np.array(devices), ("rows",)), P("rows"))
    row_each = jax.ShapeDtypeStruct((mesh.size, 3), jnp.float32, sharding=rows)
    mapped = jax.pmap(dot, axis_name="rows", devices=devices)
    return jax.jit(mapped).lower(row_each, row_each)


def main():
    """Run every order and compare answers, traces, jaxprs and compiled programs.

    >>> main()
    (8, 3) and (8, 3) give (8,) in every order: True
    Python runs the body in every call of a plain vmap: True
    Python runs it in every call that makes its jit(vmap) anew: True
    Python runs it once in the other orders: True
    the three orders of pmap record the same operations: True
    under one jit, six orders are two programs: True
    """
    ways, (v, u) = orders(), rows()
    expected = reference(v, u)
    answers = [way(dot)(v, u) for way in ways.values()]
    runs = {name: traces(four_calls(way, v, u)) for name, way in ways.items()}
    jaxprs = {name: jax.make_jaxpr(way(dot))(v, u) for name, way in ways.items()}
    cores = {outline(jaxprs[name], without=("jit",)) for name in ways if "pmap" in name}
    programs = {program(way(dot), v, u) for way in ways.values()}
    often = runs.pop("vmap"), traces(four_calls(made_anew, v, u))
    claims = {
        f"{v.shape} and {u.shape} give {expected.shape} in every order": all(
            np.array_equal(answer, expected) for answer in answers
        ),
        "Python runs the body in every call of a plain vmap": often[0] == 4,
        "Python runs it in every call that makes its jit(vmap) anew": often[1] == 4,
        "Python runs it once in the other orders": set(runs.values()) == {1},
        "the three orders of pmap record the same operations": len(cores) == 1,
        "under one jit, six orders are two programs": len(programs) == 2,
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
