"""Hold what a few rows need on the way, instead of what all rows need.

Why it is hard: `vmap` takes every row through each operation together, so what one row
needs for a moment is there for all rows at once; and a gradient keeps it, for every
row, until the way back, in a loop as well.
What finishes it: `lax.map` with a batch size, `checkpoint` around the function of one
row, and asking the compiled program for its bytes before it runs.

Run it: `python -m examples.vmap.memory`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

WIDTH, HIDDEN = 16, 2048  # numbers of a row, and what they become on the way


def reference(weights, rows):
    """Return the answers of all rows, (n, 16), by NumPy."""
    up, down = (np.asarray(matrix) for matrix in weights)
    return np.maximum(np.asarray(rows) @ up, 0) @ down


def network(weights, row):
    """Return the answer of one row: (16,) becomes (2048,) on the way, and (16,).

    weights: (16, 2048) and (2048, 16); any other widths that fit will do.
    """
    up, down = weights
    hidden = jnp.maximum(row @ up, 0)
    return hidden @ down


def numbers(count=4096):
    """Return weights and `count` rows: whole numbers, so small that sums are exact."""
    across, along = jnp.arange(WIDTH), jnp.arange(HIDDEN)
    table = along * (across[:, None] + 3) % 11
    weights = (table % 3 - 1.0, (table % 5 - 2.0).T)
    return weights, (jnp.arange(count)[:, None] + across**2) % 4 - 1.0


def at_once(fn):
    """Return `fn` mapped over rows by `vmap`, with weights that all rows share."""
    return jax.vmap(fn, in_axes=(None, 0))


def in_batches(fn, size):
    """Return `fn` mapped over rows, `size` rows at once, one batch after another."""

    def mapped(weights, rows):
        return lax.map(partial(fn, weights), rows, batch_size=size)

    return mapped


def by_scan(fn):
    """Return `fn` mapped over rows by a `scan` that carries nothing from row to row."""

    def mapped(weights, rows):
        def step(nothing, row):
            return nothing, fn(weights, row)

        return lax.scan(step, None, rows)[1]

    return mapped


def gradient(mapped):
    """Return the gradient, by the weights, of the sum of all answers."""
    return jax.grad(lambda weights, rows: mapped(weights, rows).sum())


def programs(sizes, count):
    """Return `{(kind, size): function}`: answers, gradients, checkpointed gradients.

    A size of `count` rows or more is `vmap`.
    """
    found = {}
    for size in sizes:
        cut = at_once if size >= count else partial(in_batches, size=size)
        found["answers", size] = cut(network)
        found["gradient", size] = gradient(cut(network))
        found["checkpointed", size] = gradient(cut(jax.checkpoint(network)))
    return found


def memory(fn, *args):
    """Compile `fn` for arguments like `args`, and return what it says of its bytes.

    Nothing runs, and no array is made: `jax.ShapeDtypeStruct`s will do for `args`.
    Its fields are those of XLA's CompiledMemoryStats, such as `temp_size_in_bytes`.
    """
    return jax.jit(fn).lower(*args).compile().memory_analysis()


def temporaries(fn, *args):
    """Return how many bytes `fn` needs beside its arguments and its answer."""
    return memory(fn, *args).temp_size_in_bytes


def grid(texts, corner="rows at once"):
    """Return `{(column, row): text}` as lines of text; what is missing stays empty."""
    columns, rows = (dict.fromkeys(key[k] for key in texts) for k in (0, 1))
    table = [[corner, *columns]]
    table += [[f"{row}", *(texts.get((c, row), "") for c in columns)] for row in rows]
    first, *others = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
    lines = [
        line[0].ljust(first) + "".join(map(str.rjust, line[1:], others))
        for line in table
    ]
    return "\n".join(map(str.rstrip, lines))


def lower(mesh):
    """Lower the checkpointed gradient in batches, for a replica on each device."""
    whole = NamedSharding(mesh, P())
    arguments = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=whole),
        jax.eval_shape(numbers),
    )
    fn = gradient(in_batches(jax.checkpoint(network), 64))
    return jax.jit(fn).lower(*arguments)


def main():
    """Map in three ways and take three gradients, and compare answers and bytes.

    >>> main()
    rows (1000, 16) give (1000, 16), by way of (1000, 2048)
    vmap, scan and batches of 64 give the same numbers: True
    vmap holds the hidden numbers of all rows: True
    batches of 64 hold a fifth of that, or less: True
    the gradient in batches holds more than half of what vmap's holds: True
    checkpointed, it holds a tenth, or less: True
    and all three gradients are the same numbers: True
    """
    weights, rows = numbers(1000)
    expected = reference(weights, rows)
    hidden = len(rows), HIDDEN
    print(f"rows {rows.shape} give {expected.shape}, by way of {hidden}")
    ways = at_once(network), by_scan(network), in_batches(network, 64)
    held = [temporaries(way, weights, rows) for way in ways]
    slopes = gradient(ways[0]), gradient(ways[2])
    slopes += (gradient(in_batches(jax.checkpoint(network), 64)),)
    kept = [temporaries(slope, weights, rows) for slope in slopes]
    first, *others = [jax.jit(slope)(weights, rows) for slope in slopes]
    claims = {
        "vmap, scan and batches of 64 give the same numbers": all(
            np.array_equal(jax.jit(way)(weights, rows), expected) for way in ways
        ),
        "vmap holds the hidden numbers of all rows": held[0] >= 4 * hidden[0] * HIDDEN,
        "batches of 64 hold a fifth of that, or less": held[2] <= held[0] / 5,
        "the gradient in batches holds more than half of what vmap's holds": (
            kept[1] > kept[0] / 2
        ),
        "checkpointed, it holds a tenth, or less": kept[2] <= kept[0] / 10,
        "and all three gradients are the same numbers": all(
            np.array_equal(a, b)
            for other in others
            for a, b in zip(first, other, strict=True)
        ),
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    main()
