"""Combine `grad` with `vmap`, `pmap` and `jit`, and find out what each order costs.

Why it is hard: every order returns the same numbers, and an inner `jit` even keeps
Python away from your function, so nothing tells you that each call differentiates anew.
What finishes it: the gradient by hand, a count of how often Python runs the function,
and the compiled programs and their times side by side.

Run it: `python -m examples.jit.with_grad`
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from examples.jit.ordering import four_calls, orders, outline, program
from examples.tools.text import seconds_text
from examples.tools.timing import sample, time_calls
from examples.tools.tracing import traces
from examples.vmap.what_it_does import equations

AXES = (None, 0, 0)  # all rows share the weights


class Cost(NamedTuple):
    """What one order costs: traces in four calls, and seconds."""

    traced: int
    first: float
    bare: float
    jitted: float


def reference(weights, rows, targets):
    """Return `miss`'s gradient for each row by hand: (k,), (n, k), (n,) to (n, k)."""
    return 2 * (rows @ weights - targets)[:, None] * rows


def miss(weights, row, target):
    """Return the squared error of one row: (k,), (k,) and () give ()."""
    return (jnp.vdot(weights, row) - target) ** 2


def inside(way, f):
    """Return the gradient of `f` for each row, (n, k): a map around `grad`."""
    return way(jax.grad(f))


def around(way, f):
    """Return the gradient of the sum over all rows, (k,): `grad` around a map."""
    mapped = way(f)
    return jax.grad(lambda *batch: mapped(*batch).sum())


def batch():
    """Return whole numbers, float32: weights (3,), rows (8, 3) and targets (8,)."""
    return jnp.arange(3.0), jnp.arange(24.0).reshape(8, 3) % 7, jnp.arange(8.0)


def of_miss(*row):
    """Return `miss` of one row, as a function of its own that can be counted."""
    return miss(*row)


def costs(ways):
    """Return `{name: Cost}` of the gradient around each order, alone and in a `jit`."""
    bare = {name: partial(around(way, miss), *batch()) for name, way in ways.items()}
    jitted = {
        name: partial(jax.jit(around(way, miss)), *batch())
        for name, way in ways.items()
    }
    first = {name: sample(call, 1) for name, call in jitted.items()}
    slow, fast = time_calls(bare), time_calls(jitted)
    return {
        name: Cost(
            traces(four_calls(partial(around, way), *batch()), of_miss),
            first[name],
            slow[name].median,
            fast[name].median,
        )
        for name, way in ways.items()
    }


def lines(found):
    """Return `{name: Cost}` as lines of text."""
    line = "{:<10}{:>7}{:>11}{:>12}{:>13}".format
    text = [line("", "traces", "no jit", "jit around", "first call")]
    for name, (traced, *times) in found.items():
        first, bare, jitted = map(seconds_text, times)
        text.append(line(name, traced, bare, jitted, first))
    return "\n".join(text)


def flops(f, *args):
    """Return the operations that XLA counts in the compiled `jit(f)`."""
    return jax.jit(f).lower(*args).compile().cost_analysis()["flops"]


def products(f, *args):
    """Return how many dot products the jaxpr of `f` contains."""
    found = equations(jax.make_jaxpr(f)(*args))
    return sum(equation.primitive.name == "dot_general" for equation in found)


def main():
    """Compare the gradients of six orders, their traces and their programs.

    >>> main()
    inside of each order: (8, 3), as by hand: True
    around each order: (3,), the sum of those: True
    without jit, only a plain vmap runs the function in every call: True
    grad(jit) is two compiled programs, jit(grad) is one: True
    under one jit, six orders are two programs: True
    """
    ways, given = orders(in_axes=AXES), batch()
    by_hand = reference(*given)
    total = by_hand.sum(axis=0)
    uses = {
        name: four_calls(partial(around, way), *given) for name, way in ways.items()
    }
    often = {name: traces(use, of_miss) for name, use in uses.items()}
    jaxpr = jax.make_jaxpr(around(ways["jit(vmap)"], miss))(*given)
    programs = {program(around(way, miss), *given) for way in ways.values()}
    claims = {
        f"inside of each order: {by_hand.shape}, as by hand": all(
            np.array_equal(inside(way, miss)(*given), by_hand) for way in ways.values()
        ),
        f"around each order: {total.shape}, the sum of those": all(
            np.array_equal(around(way, miss)(*given), total) for way in ways.values()
        ),
        "without jit, only a plain vmap runs the function in every call": often
        == dict.fromkeys(ways, 1) | {"vmap": 4},
        "grad(jit) is two compiled programs, jit(grad) is one": (
            outline(jaxpr).count("jit(") == 2
        ),
        "under one jit, six orders are two programs": len(programs) == 2,
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
