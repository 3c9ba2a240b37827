"""See what vmap does to a function: count calls and operations, compare programs.

Why it is hard: a loop, `lax.map` and `vmap` return the same numbers, so running them
tells you nothing about how each gets there.
What finishes it: count how often Python calls the function, count the operations in the
jaxpr, and compare the compiled program with the one you would batch by hand.

Run it: `python -m examples.vmap.what_it_does`
"""

import re
from collections import Counter
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


class Facts(NamedTuple):
    """What one way of mapping does: calls by Python, and operations in its jaxpr."""

    calls: int
    dot_generals: int
    scans: int
    equations: int


def reference(fn):
    """Return `fn` mapped over axis 0 of its arguments by a plain Python loop."""
    return lambda *args: jnp.stack([fn(*row) for row in zip(*args, strict=True)])


def one_by_one(fn):
    """Return `fn` mapped by `lax.map`, which takes the rows one after another."""
    return lambda *args: lax.map(lambda row: fn(*row), args)


def dot(x, y):
    """Return the dot product of two rows: (n,) and (n,) give ()."""
    return x @ y


def by_hand(x, y):
    """Return the dot product of each pair of rows: (m, n) and (m, n) give (m,)."""
    return jnp.einsum("ri,ri->r", x, y)


def batch(rows=16):
    """Return two batches of rows, (rows, 5) float32, of small whole numbers."""
    x = jnp.arange(5.0 * rows).reshape(rows, 5)
    return x % 11, x % 7


def equations(jaxpr):
    """Yield every equation of a jaxpr, and of the jaxprs inside its equations."""
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            for inner in value if isinstance(value, tuple | list) else [value]:
                if hasattr(inner, "eqns"):
                    yield from equations(inner)


def facts(way, fn, *args):
    """Map `fn` over `args` in one `way`, without computing, and count what it does."""
    calls = 0

    def counted(*row):
        nonlocal calls
        calls += 1
        return fn(*row)

    jaxpr = jax.make_jaxpr(way(counted))(*args)
    found = Counter(equation.primitive.name for equation in equations(jaxpr))
    return Facts(calls, found["dot_general"], found["scan"], found.total())


def normalized_hlo(fn, *args):
    """Return the optimized HLO of `fn` without its name and its places in the source.

    Two functions compile to the same program when these texts are equal.
    """

    # Its arguments have no names, which HLO would take over; and it has no `lower` of
    # its own, which `jit(pmap(f))` inherits from `pmap(f)`.
    def program(*values):
        return fn(*values)

    return normalized(jax.jit(program).lower(*args).compile())


def normalized(compiled):
    """Return the text of a `jax.stages.Compiled` without names of Python's."""
    hlo = re.sub(r"^HloModule [^,]*", "HloModule", compiled.as_text())
    tables = "FileNames|FunctionNames|FileLocations|StackFrames"
    hlo = re.sub(rf"(?m)^(?:{tables})\n(?:.+\n)*", "", hlo)
    hlo = re.sub(r",? ?metadata=\{(?:\"[^\"]*\"|[^}\"])*\}", "", hlo)
    return re.sub(r"\n{2,}", "\n\n", hlo)


def main():
    """Compare a loop, `lax.map` and `vmap`, and `vmap` with a function for a batch.

    >>> main()
    loop: 16 calls, 16 dot_generals, 0 scans
    lax.map: 1 calls, 1 dot_generals, 1 scans
    vmap: 1 calls, 1 dot_generals, 0 scans
    vmap compiles to the program batched by hand: True
    """
    x, y = batch()
    for name, way in {
        "loop": reference,
        "lax.map": one_by_one,
        "vmap": jax.vmap,
    }.items():
        assert (way(dot)(x, y) == by_hand(x, y)).all(), name
        calls, dots, scans, _ = facts(way, dot, x, y)
        print(f"{name}: {calls} calls, {dots} dot_generals, {scans} scans")
    same = normalized_hlo(jax.vmap(dot), x, y) == normalized_hlo(by_hand, x, y)
    assert same
    print(f"vmap compiles to the program batched by hand: {same}")


if __name__ == "__main__":
    main()
