"""Map one function over a batch: the walk of each home to the station.

`vmap` adds the batch axis to a function written for one home, and its plain loop is the
reference that it is compared with.

Run it: `python -m examples.start.first_maps`
"""

import jax
import jax.numpy as jnp
import numpy as np

STATION = (4, 3)


def town(avenues=8, streets=4):
    """Return a home at every crossing, float32 (avenues * streets, 2), by avenue.

    They are whole numbers, so that every way of adding them up is exact.
    """
    homes = [(avenue, street) for avenue in range(avenues) for street in range(streets)]
    return np.array(homes, np.float32)


def blocks(home, station):
    """Return how many blocks one home is from one station.

    home and station: (2,), avenue and street; the answer: ().
    """
    return jnp.abs(home - station).sum()


def reference(homes, station):
    """Return the walk of every home, (n,), by a plain loop in NumPy."""
    return np.stack([np.abs(home - np.asarray(station)).sum() for home in homes])


def main():
    """Walk the town by `vmap`.

    >>> main()
    32 homes, the longest walk: 7 blocks
    """
    homes, station = town(), np.array(STATION, np.float32)
    walks = jax.vmap(blocks, in_axes=(0, None))(homes, station)
    assert np.array_equal(walks, reference(homes, station))
    print(f"{len(homes)} homes, the longest walk: {walks.max():.0f} blocks")


if __name__ == "__main__":
    main()
