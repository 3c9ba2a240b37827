"""Map one function over a batch: the walk of each home to its nearest station.

`vmap` adds the batch axis to a function written for one home, and its plain loop is the
reference that it is compared with.

Run it: `python -m examples.start.first_maps`
"""

import jax
import jax.numpy as jnp
import numpy as np

STATIONS = ((1, 1), (4, 3), (6, 0))


def town(avenues=8, streets=4):
    """Return a home at every crossing, and the stations, as NumPy arrays.

    homes: float32 (avenues * streets, 2), avenue by avenue; stations: float32 (3, 2).
    Both hold whole numbers, so that every way of adding them up is exact.
    """
    homes = [(avenue, street) for avenue in range(avenues) for street in range(streets)]
    return np.array(homes, np.float32), np.array(STATIONS, np.float32)


def walk(home, stations):
    """Return how many blocks one home is from its nearest station.

    home: (2,), its avenue and street; stations: (k, 2), likewise; the answer: ().
    """
    blocks = jnp.abs(stations - home).sum(axis=1)
    return blocks.min()


def reference(homes, stations):
    """Return the walk of every home, (n,), by a plain loop in NumPy."""
    return np.stack([np.abs(stations - home).sum(axis=1).min() for home in homes])


def main():
    """Walk the town by `vmap`.

    >>> main()
    32 homes, the longest walk: 3 blocks
    """
    homes, stations = town()
    walks = jax.vmap(walk, in_axes=(0, None))(homes, stations)
    assert np.array_equal(walks, reference(homes, stations))
    print(f"{len(homes)} homes, the longest walk: {walks.max():.0f} blocks")


if __name__ == "__main__":
    main()
