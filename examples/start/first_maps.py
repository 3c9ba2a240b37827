"""Map one function over a batch, then over eight devices.

Why it is hard: a function written for one item does not take a batch, and a batch that
sits on one device leaves the other seven idle.
What finishes it: `vmap` adds the batch axis, `jit` compiles the result, and a batch cut
over a mesh brings in the devices. The function itself never changes.

Run it: `python -m examples.start.first_maps`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import NamedSharding

ROWS = P("rows")  # cut along the first axis, one piece for each device
STATIONS = ((1, 1), (4, 3), (6, 0))


def reference(homes, stations):
    """Return the walk of every home, (n,), by a plain loop over the homes."""
    return np.stack([walk(home, stations) for home in homes])


def walk(home, stations):
    """Return how many blocks one home is from its nearest station.

    home: (2,), its avenue and street; stations: (k, 2), likewise; the answer: ().
    """
    blocks = jnp.abs(stations - home).sum(axis=1)
    return blocks.min()


def town(avenues=8, streets=4):
    """Return a home at every crossing, and the stations, as NumPy arrays.

    homes: float32 (avenues * streets, 2), avenue by avenue; stations: float32 (3, 2).
    Both hold whole numbers, so that every way of adding them up is exact.
    """
    homes = [(avenue, street) for avenue in range(avenues) for street in range(streets)]
    return np.array(homes, np.float32), np.array(STATIONS, np.float32)


def walk_all(homes, stations):
    """Return the walk of every home, (n,): homes are mapped, stations are shared."""
    return jax.vmap(walk, in_axes=(0, None))(homes, stations)


def by_sharding(homes, stations, mesh):
    """Return every walk, cut over `mesh`: `jit` divides the program as homes are cut.

    Each device holds n / mesh.size homes; raises ValueError where that is not whole.
    """
    return jax.jit(walk_all)(cut(homes, mesh), stations)


def by_shard_map(homes, stations, mesh):
    """Return every walk, cut over `mesh`: each device maps over the piece it holds."""
    piece = jax.shard_map(walk_all, mesh=mesh, in_specs=(ROWS, P()), out_specs=ROWS)
    return jax.jit(piece)(cut(homes, mesh), stations)


def by_pmap(homes, stations, mesh):
    """Return every walk, (8, n / 8): the leading axis counts the devices."""
    piece = jax.pmap(walk_all, in_axes=(0, None), devices=list(mesh.devices.flat))
    return piece(homes.reshape(mesh.size, -1, 2), stations)


def cut(homes, mesh):
    """Put homes on the mesh, the same number on every device."""
    return jax.device_put(homes, NamedSharding(mesh, ROWS))


def lower(mesh):
    """Lower `by_sharding` for a mesh of any size, four homes for each device."""
    homes = (4 * mesh.size, 2), ROWS
    stations = (len(STATIONS), 2), P()
    abstract = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))
        for shape, spec in (homes, stations)
    ]
    return jax.jit(walk_all).lower(*abstract)


def main():
    """Walk the town in every way and compare each with the loop.

    >>> main()
    homes (32, 2), on each of 8 devices (4, 2), give walks (32,)
    vmap equals the loop: True
    jit(vmap) equals the loop: True
    jit(vmap) on eight devices equals the loop: True
    jit(shard_map(vmap)) equals the loop: True
    pmap(vmap) equals the loop: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    homes, stations = town()
    expected = reference(homes, stations)
    piece = cut(homes, mesh).sharding.shard_shape(homes.shape)
    where = f"on each of {mesh.size} devices {piece}"
    print(f"homes {homes.shape}, {where}, give walks {expected.shape}")
    ways = {
        "vmap": walk_all(homes, stations),
        "jit(vmap)": jax.jit(walk_all)(homes, stations),
        "jit(vmap) on eight devices": by_sharding(homes, stations, mesh),
        "jit(shard_map(vmap))": by_shard_map(homes, stations, mesh),
        "pmap(vmap)": by_pmap(homes, stations, mesh).reshape(-1),
    }
    for name, walks in ways.items():
        equal = np.array_equal(walks, expected)
        assert equal, name
        print(f"{name} equals the loop: {equal}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
