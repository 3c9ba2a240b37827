"""Turn the map around: map over the stations, share the homes.

Given homes `(n, 2)` and stations `(k, 2)`, return for every station how many blocks its
farthest home is away, `(k,)`.
Stations that live on eight devices get their answers there.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P


def solution(homes, stations):
    """Return the farthest walk to each station: stations are mapped, homes shared."""

    def farthest_home(station):
        return jnp.abs(homes - station).sum(axis=1).max()

    return jax.vmap(farthest_home)(stations)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(homes, stations): float32 `(n, 2)` and `(k, 2)` to `(k,)`.
    """
    homes = np.array([(a, s) for a in range(4) for s in range(2)], np.float32)
    stations = np.array([(a, 3 * a % 8) for a in range(8)], np.float32)
    for some in (stations, stations[:5]):  # as many stations as homes, and fewer
        expected = [np.abs(homes - station).sum(axis=1).max() for station in some]
        found = make(homes, some)
        assert np.shape(found) == some.shape[:1], (
            f"{len(some)} stations need {len(some)} answers, in an array of shape "
            f"{some.shape[:1]}; yours has shape {np.shape(found)}"
        )
        assert np.array_equal(found, expected), (
            f"with {len(homes)} homes and {len(some)} stations the answers differ from "
            "the loop's: is it the stations that are mapped, and are all homes shared?"
        )
    by_loop = [np.abs(homes - station).sum(axis=1).max() for station in stations]
    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        found = make(homes, jax.device_put(stations, P("data")))
    assert isinstance(found, jax.Array) and len(found.devices()) == 8, (
        "the stations were sharded over eight devices, the answers are not: "
        "map over the stations, do not take them out one by one"
    )
    assert np.array_equal(found, by_loop), (
        "with the stations sharded over eight devices the answers change"
    )
    print("The check passes.")


def mistake_maps_the_homes(homes, stations):
    """You mapped over the homes, so each answer is for a home, not for a station."""

    def farthest_station(home, stations):
        return jnp.abs(stations - home).sum(axis=1).max()

    return jax.vmap(farthest_station, in_axes=(0, None))(homes, stations)


def mistake_maps_both(homes, stations):
    """You left out `in_axes`, so station i met home i and no other."""

    def blocks(home, station):
        return jnp.abs(home - station).sum(axis=-1).max()

    return jax.vmap(blocks)(homes, stations)


def mistake_loops(homes, stations):
    """You looped over the stations: the numbers are right, but no longer sharded."""
    return np.stack([np.abs(homes - s).sum(axis=1).max() for s in np.asarray(stations)])
