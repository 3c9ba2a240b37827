"""Index inside vmap, and see which indexing gets dear, and what to write instead.

Why it is hard: one line of indexing is a slice, a gather or a scatter, and which one it
is depends on what is mapped around it; a shared array may be copied for every lane.
What finishes it: count the operations that are left after compilation, and the bytes of
workspace; scatter once outside of the map, and take known offsets as slices.

Run it: `python -m examples.vmap.gather_scatter`
"""

import re
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from examples.vmap.control_flow import primitives
from examples.vmap.memory import temporaries

WIDTH = 16  # numbers in a window
INDEXING = (
    *("slice", "dynamic_slice", "dynamic_update_slice"),
    *("gather", "scatter", "scatter-add"),
)


def pick(row, i):
    """Return one number of a row: (k,) and int () give ()."""
    return row[i]


def pick_by_mask(row, i):
    """Return what `pick` returns, without a gather: every number is looked at."""
    return jnp.where(jnp.arange(len(row)) == i, row, 0).sum()


def window(row, i):
    """Return three numbers of a row, from `i` on: (k,) and int () give (3,)."""
    return lax.dynamic_slice(row, (i,), (3,))


def put(row, i):
    """Return a row with a zero at `i`: (k,) and int () give (k,)."""
    return row.at[i].set(0)


def put_three(row, i):
    """Return a row with three zeros from `i` on: (k,) and int () give (k,)."""
    return lax.dynamic_update_slice(row, jnp.zeros(3, row.dtype), (i,))


def recorded(fn, *args):
    """Return the indexing operations in the jaxpr of `fn`, as a Counter."""
    found = primitives(fn, *args)
    return Counter({name: found[name] for name in INDEXING if found[name]})


def compiled(fn, *args):
    """Return the indexing operations left in the optimized HLO of `fn`, as a Counter.

    HLO writes its names with hyphens; here they are spelled as in a jaxpr.
    """
    hlo = jax.jit(fn).lower(*args).compile().as_text()
    names = re.findall(r" (gather|scatter|dynamic-(?:update-)?slice)\(", hlo)
    return Counter(name.replace("-", "_") for name in names)


def without(x, i):
    """Return the sum of `x` without the number at `i`: (k,) and int () give ()."""
    return x.at[i].set(0).sum()


def without_all(x, indices):
    """Return `without` of every index, (m,): (k,) and int (m,)."""
    return jax.vmap(without, in_axes=(None, 0))(x, indices)


def without_some(x, indices):
    """Return what `without_all` returns, a hundred indices at a time."""
    return lax.map(lambda i: without(x, i), indices, batch_size=100)


def taken_away(x, indices):
    """Return what `without_all` returns, by arithmetic: nothing is copied."""
    return x.sum() - x[indices]


def bins_by_lane(indices, bins):
    """Count the indices: int (m,) gives (bins,). Each lane fills bins of its own."""
    return jax.vmap(lambda i: jnp.zeros(bins).at[i].add(1))(indices).sum(axis=0)


def bins_at_once(indices, bins):
    """Return what `bins_by_lane` returns: all indices go to the same bins."""
    return jnp.zeros(bins).at[indices].add(1)


def sums_by_offset(x):
    """Return the sum of each window of WIDTH numbers: (k,) gives (k - WIDTH + 1,)."""
    offsets = jnp.arange(len(x) - WIDTH + 1)
    return jax.vmap(lambda i: lax.dynamic_slice(x, (i,), (WIDTH,)).sum())(offsets)


def sums_by_slices(x):
    """Return what `sums_by_offset` returns: WIDTH slices of `x`, each one further."""
    count = len(x) - WIDTH + 1
    return sum(x[k : k + count] for k in range(WIDTH))


def three(row, i):
    """Return three numbers of a row, from `i` on, as NumPy would write it."""
    return row[i : i + 3]


def large(row):
    """Return the numbers of a row that are above 3: as many as there are."""
    return row[row > 3]


def large_or_zero(row):
    """Return a row, (k,), with zeros for its numbers that are not above 3."""
    return jnp.where(row > 3, row, 0)


def where_large(row):
    """Return where a row's numbers are above 3: int (4,), filled up with -1."""
    return jnp.nonzero(row > 3, size=4, fill_value=-1)[0]


def main():
    """Count operations and bytes, and compare each rewrite with what it replaces.

    >>> main()
    (8, 10) and (8,) give (8,)
    a mapped index is a gather, compiled, too: True
    an index that lanes share is a slice again: True
    a shared array is copied for every lane: True
    no rewrite changes a number: True
    """
    x, i = np.arange(80, dtype=np.float32).reshape(8, 10), np.arange(8)
    sharing = jax.vmap(pick, in_axes=(0, None))
    print(f"{x.shape} and {i.shape} give {jax.vmap(pick)(x, i).shape}")
    row = jnp.arange(1000.0) % 7
    some = np.arange(500) % 90
    same = [
        (without_all(row, some), taken_away(row, some)),
        (bins_by_lane(some, 90), bins_at_once(some, 90)),
        (sums_by_offset(row), sums_by_slices(row)),
    ]
    copied = temporaries(without_all, row, some) >= some.size * row.nbytes
    claims = {
        "a mapped index is a gather, compiled, too": compiled(jax.vmap(pick), x, i)
        == {"gather": 1},
        "an index that lanes share is a slice again": compiled(sharing, x, 3)
        == {"dynamic_slice": 1},
        "a shared array is copied for every lane": copied,
        "no rewrite changes a number": all(np.array_equal(a, b) for a, b in same),
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    main()
