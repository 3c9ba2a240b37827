"""Look up a collective: what goes in, what comes out, what is sent, what it is for.

Why it is hard: seven calls differ in who gets what, some shapes agree by accident, and
what a call sends is written nowhere in the code.
What finishes it: the same whole numbers through all of them, a list of blocks for each,
and one table whose every entry is measured.

Run it: `python -m examples.collectives.all_in_a_row`
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding

from examples.collectives.all_to_all import ROWS, on_rows
from examples.collectives.blocks import blocks_of
from examples.collectives.ppermute import numbers
from examples.tools.traffic import sends


class Entry(NamedTuple):
    """What the table says of a collective on n devices, each with k numbers, b bytes.

    comes_out: how many numbers one device holds after it, as Python.
    sent: how many bytes one device sends, as Python.
    back: the body that is its transpose, by name; None where there is no gradient.
    use: what it is for, and what `uses` does with it.
    """

    comes_out: str
    sent: str
    back: str | None
    use: str


RING = "2 * b * (n-1)/n"  # a psum_scatter and an all_gather of its parts
TABLE = {
    "psum": Entry("k", RING, "psum", "a product whose inner axis is split"),
    "pmean": Entry("k", RING, "pmean", "a loss over equal shares"),
    "pmax": Entry("k", RING, None, "a softmax whose row is split"),
    "all_gather": Entry("n * k", "b * (n-1)", "psum_scatter", "weights that are split"),
    "psum_scatter": Entry(
        "k / n", "b * (n-1)/n", "all_gather", "a product, kept split"
    ),
    "all_to_all": Entry(
        "k", "b * (n-1)/n", "all_to_all", "whole columns: experts, heads"
    ),
    "ppermute": Entry("k", "b", "ppermute, back", "a neighbor's edge; rings"),
}


def references(blocks):
    """Return what each device holds after each collective, from what each held."""
    n, total = len(blocks), sum(blocks)
    parts = [np.split(block, n) for block in blocks]
    return {
        "psum": [total] * n,
        "pmean": [total / n] * n,
        "pmax": [np.maximum.reduce(blocks)] * n,
        "all_gather": [np.concatenate(blocks)] * n,
        "psum_scatter": np.split(total, n),
        "all_to_all": [np.concatenate(got) for got in zip(*parts, strict=True)],
        "ppermute": [blocks[d - 1] for d in range(n)],
    }


def bodies(n):
    """Return each collective as a function of the block on one of n devices."""
    ring = [(d, (d + 1) % n) for d in range(n)]
    back = [(target, source) for source, target in ring]
    return {
        "psum": lambda block: lax.psum(block, "rows"),
        "pmean": lambda block: lax.pmean(block, "rows"),
        "pmax": lambda block: lax.pmax(block, "rows"),
        "all_gather": lambda block: lax.all_gather(block, "rows", tiled=True),
        "psum_scatter": lambda block: lax.psum_scatter(block, "rows", tiled=True),
        "all_to_all": lambda block: lax.all_to_all(block, "rows", 0, 0, tiled=True),
        "ppermute": lambda block: lax.ppermute(block, "rows", ring),
        "ppermute, back": lambda block: lax.ppermute(block, "rows", back),
    }


def uses(block):
    """Use each collective once, on one device that holds the row `block`: (k,)."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    edge = lax.ppermute(block[-1:], "rows", [(d, d + 1) for d in range(n - 1)])
    return {
        "psum": lax.psum(me * block, "rows"),
        "pmean": lax.pmean(block.mean(keepdims=True), "rows"),
        "pmax": block - lax.pmax(block.max(), "rows"),
        "all_gather": lax.all_gather(block, "rows") @ block,
        "psum_scatter": lax.psum_scatter(me * block, "rows", tiled=True),
        "all_to_all": jnp.sort(lax.all_to_all(block, "rows", 0, 0, tiled=True)),
        "ppermute": jnp.diff(block, prepend=edge),
    }


def answers(rows):
    """Return what `uses` leaves on each device, by NumPy, from all rows: (n, k)."""
    n = len(rows)
    product = np.arange(n) @ rows
    return {
        "psum": [product] * n,
        "pmean": [rows.mean(keepdims=True)[0]] * n,
        "pmax": list(rows - rows.max()),
        "all_gather": list(rows @ rows.T),
        "psum_scatter": np.split(product, n),
        "all_to_all": np.split(np.sort(rows.T.reshape(n, -1)).ravel(), n),
        "ppermute": np.split(np.diff(rows.ravel(), prepend=0), n),
    }


def stated(name, n, k):
    """Return what the table says for n devices of k float32: numbers, and bytes."""
    entry, values = TABLE[name], {"n": n, "k": k, "b": 4 * k}
    return eval(entry.comes_out, values), eval(entry.sent, values)


def measured(name, mesh, k):
    """Return what the compiled program says: numbers on one device, and bytes sent."""
    x = jax.ShapeDtypeStruct((mesh.size * k,), jnp.float32)
    x = x.update(sharding=NamedSharding(mesh, ROWS))
    lowered = on_rows(mesh, bodies(mesh.size)[name]).lower(x)
    [sent] = sends(lowered)
    return lowered.out_info.shape[0] / mesh.size, sent.moved


class Rendered(str):
    """A text in Markdown that a notebook shows as what it says, here a table."""

    def __repr__(self):
        return str(self)

    def _repr_markdown_(self):
        return str(self)


def table():
    """Return TABLE as Markdown: k numbers, b bytes on each of n devices."""
    lines = [
        "| collective | k become | of b, sent | transpose | use |",
        "|" + " --- |" * 5,
    ]
    for name, entry in TABLE.items():
        back = entry.back or "none"
        cells = f"`{name}`", f"`{entry.comes_out}`", f"`{entry.sent}`", back, entry.use
        lines.append(f"| {' | '.join(cells)} |")
    return Rendered("\n".join(lines))


def lower(mesh):
    """Lower all seven in one program for a mesh of any size, with 4 MiB on each device.

    What `all_gather` takes in is a part of that, so that about 4 MiB come out.
    """
    n = mesh.size
    part = 128 * max(1, 2**20 // (128 * n))
    x, small = (
        jax.ShapeDtypeStruct((n * k,), jnp.float32, sharding=NamedSharding(mesh, ROWS))
        for k in (n * part, part)
    )

    def all_seven(block, small):
        takes = {"all_gather": small}
        return {name: bodies(n)[name](takes.get(name, block)) for name in TABLE}

    return on_rows(mesh, all_seven).lower(x, small)


def main():
    """Run all seven on four devices; compare with lists of blocks, and with the table.

    >>> main()
    psum True True
    pmean True True
    pmax True True
    all_gather True True
    psum_scatter True True
    all_to_all True True
    ppermute True True
    """
    mesh = jax.make_mesh((4,), ("rows",))
    x = jax.device_put(numbers(4, each=4), NamedSharding(mesh, ROWS))
    expected = references(blocks_of(x))
    for name in TABLE:
        found = on_rows(mesh, bodies(4)[name])(x)
        same = np.array_equal(blocks_of(found), expected[name])
        print(name, same, stated(name, n=4, k=32) == measured(name, mesh, k=32))


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
