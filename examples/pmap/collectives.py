"""Let the devices of a pmap talk: every collective, and the list of blocks it means.

Why it is hard: the body is written for one device, so what a collective returns there
depends on what all the others hand in.
What finishes it: write each one down as a function of a list, with one entry for each
device, and compare.

Run it: `python -m examples.pmap.collectives`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PAIRS = [[0, 1], [2, 3], [4, 5], [6, 7]]  # groups of devices that talk among themselves
RING = [(n, (n + 1) % 8) for n in range(8)]  # who sends to whom


def psum(blocks):
    """Every device gets the sum of all blocks."""
    return [sum(blocks)] * len(blocks)


def pmean(blocks):
    """Every device gets the mean of all blocks."""
    return [sum(blocks) / len(blocks)] * len(blocks)


def pmax(blocks):
    """Every device gets the highest number of all blocks, place by place."""
    return [np.maximum.reduce(blocks)] * len(blocks)


def all_gather(blocks):
    """Every device gets all blocks, stacked: (k,) gives (devices, k)."""
    return [np.stack(blocks)] * len(blocks)


def psum_scatter(blocks):
    """Device n gets entry n of the sum: (devices,) gives ()."""
    return list(sum(blocks))


def all_to_all(blocks):
    """Device n gets entry n of every block: (devices,) gives (devices,)."""
    return list(np.stack(blocks).T)


def ppermute(blocks):
    """Each device gets the block of its left neighbor in the RING."""
    received = dict(RING)
    sender = {to: source for source, to in received.items()}
    return [blocks[sender[n]] for n in range(len(blocks))]


def psum_in_pairs(blocks):
    """Every device gets the sum of the blocks of its pair."""
    return [sum(blocks[n] for n in pair) for pair in PAIRS for _ in pair]


# On a device, and as a list of blocks.
BOTH_WAYS = {
    "psum": (lambda x: lax.psum(x, "rows"), psum),
    "pmean": (lambda x: lax.pmean(x, "rows"), pmean),
    "pmax": (lambda x: lax.pmax(x, "rows"), pmax),
    "all_gather": (lambda x: lax.all_gather(x, "rows"), all_gather),
    "psum_scatter": (lambda x: lax.psum_scatter(x, "rows"), psum_scatter),
    "all_to_all": (lambda x: lax.all_to_all(x, "rows", 0, 0), all_to_all),
    "ppermute": (lambda x: lax.ppermute(x, "rows", RING), ppermute),
    "psum in pairs": (
        lambda x: lax.psum(x, "rows", axis_index_groups=PAIRS),
        psum_in_pairs,
    ),
}


def table():
    """Return a row of eight multiples of eight for each of eight devices: (8, 8)."""
    return 8 * (jnp.arange(64.0).reshape(8, 8) * 5 % 11)


def main():
    """Run every collective on eight devices, and as a list of blocks.

    >>> main()
    psum (8,) True
    pmean (8,) True
    pmax (8,) True
    all_gather (8, 8) True
    psum_scatter () True
    all_to_all (8,) True
    ppermute (8,) True
    psum in pairs (8,) True
    """
    for name, (collective, meaning) in BOTH_WAYS.items():
        found = jax.pmap(collective, axis_name="rows")(table())
        expected = np.stack(meaning(list(np.asarray(table()))))
        print(name, found.shape[1:], np.array_equal(found, expected))


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
