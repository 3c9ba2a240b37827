"""Say with a PartitionSpec how an array is cut, and hold JAX to it.

Why it is hard: a spec has an entry for each axis of the array, and what stands in it
are axes of the mesh: no device and no index, so what a device gets is yet to be found.
What finishes it: NumPy finds it. Each name in an entry is one `np.split` of that axis,
of which a device keeps the part that its place on the mesh says.

Run it: `python -m examples.mesh.cut_an_array`
"""

from itertools import combinations_with_replacement, pairwise, permutations

import jax
import numpy as np
from jax import P
from jax.sharding import NamedSharding


def pieces(array, mesh_shape, spec):
    """Return what each device holds, by NumPy: `{place on the mesh: piece}`.

    mesh_shape: `{name: length}`, as `mesh.shape`. Raises ValueError where an axis does
    not divide evenly, KeyError where the mesh has no axis of a name.
    """
    held = {}
    for place in np.ndindex(*mesh_shape.values()):
        mine = dict(zip(mesh_shape, place, strict=True))
        piece = array
        for axis, entry in enumerate(spec):
            for name in names(entry):
                piece = np.split(piece, mesh_shape[name], axis)[mine[name]]
        held[place] = piece
    return held


def names(entry):
    """Return an entry of a spec, which is None, a name or a tuple, as a tuple."""
    if entry is None:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def held(x):
    """Return what each device holds of the cut `x`: `{place on the mesh: piece}`."""
    data = {shard.device: np.asarray(shard.data) for shard in x.addressable_shards}
    devices = x.sharding.mesh.devices
    return {place: data[devices[place]] for place in np.ndindex(devices.shape)}


def same(found, expected):
    """Whether two dicts have the same places, and equal pieces at each."""
    return found.keys() == expected.keys() and all(
        np.array_equal(piece, expected[place]) for place, piece in found.items()
    )


def every_spec(ndim, axis_names):
    """Yield every spec for `ndim` axes, once: each name cuts one axis, or none."""
    for count in range(len(axis_names) + 1):
        for order in permutations(axis_names, count):
            for ends in combinations_with_replacement(range(count + 1), ndim - 1):
                cuts = pairwise((0, *ends, count))
                yield P(*(order[start:stop] or None for start, stop in cuts))


def table(shape=(16, 8)):
    """Return whole numbers from 0, float32 of `shape`, as a NumPy array."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def main():
    """Cut a table by every spec on three grids, and compare with NumPy's pieces.

    >>> main()
    {'rows': 8}: 3 specs cut as NumPy does: True
    {'rows': 2, 'inner': 4}: 11 specs cut as NumPy does: True
    {'rows': 4, 'inner': 2}: 11 specs cut as NumPy does: True
    """
    whole = table()
    for shape in {"rows": 8}, {"rows": 2, "inner": 4}, {"rows": 4, "inner": 2}:
        sizes, axis_names = tuple(shape.values()), tuple(shape)
        mesh = jax.make_mesh(sizes, axis_names)
        specs = list(every_spec(whole.ndim, axis_names))
        cut = [jax.device_put(whole, NamedSharding(mesh, spec)) for spec in specs]
        equal = all(
            same(held(x), pieces(whole, shape, spec))
            for x, spec in zip(cut, specs, strict=True)
        )
        assert equal
        print(f"{shape}: {len(specs)} specs cut as NumPy does: {equal}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
