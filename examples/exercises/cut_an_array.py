"""Say where a device's piece begins and ends, without making the piece.

Given the shape of an array, the mesh's shape `{name: length}`, a spec with an entry for
each axis, and the position of one device, return a tuple of slices with whole numbers:
`array[slices]` is what that device holds.
"""

import jax
import numpy as np
from jax import P
from jax.sharding import NamedSharding

from examples.mesh.cut_an_array import names

SPECS = (
    *(P("data", None), P(None, "model"), P("data", "model"), P("model", "data")),
    *(P(("data", "model"), None), P(("model", "data"), None), P(None, None)),
)


def solution(shape, mesh_shape, spec, position):
    """Narrow each axis once for each name that shards it."""
    mine = dict(zip(mesh_shape, position, strict=True))
    slices = []
    for length, entry in zip(shape, spec, strict=True):
        start = 0
        for name in entry if isinstance(entry, tuple) else (entry,):
            if name is not None:
                length //= mesh_shape[name]
                start += length * mine[name]
        slices.append(slice(start, start + length))
    return tuple(slices)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(shape, mesh_shape, spec, position): a tuple of slices, one for each axis.
    """
    shape = 16, 8
    for sizes in (2, 4), (4, 2):
        mesh = jax.make_mesh(sizes, ("data", "model"))
        for spec in SPECS:
            expected = NamedSharding(mesh, spec).devices_indices_map(shape)
            for position in np.ndindex(sizes):
                found = make(shape, dict(mesh.shape), spec, position)
                what = f"{spec} on a mesh of {sizes}, the device at {position}"
                assert isinstance(found, tuple) and len(found) == 2, (
                    "return a tuple of two slices, one for each dimension; "
                    f"for {what}, you returned {found}"
                )
                wanted = expected[mesh.devices[position]]
                for axis, (mine, due) in enumerate(zip(found, wanted, strict=True)):
                    begin, end, _ = due.indices(shape[axis])
                    assert mine == slice(begin, end), (
                        f"{what}: along dimension {axis} it holds "
                        f"slice({begin}, {end}); you returned {mine}"
                    )
    print("The check passes.")


def mistake_reads_the_tuple_backwards(shape, mesh_shape, spec, position):
    """You sharded over the names of a tuple from last to first."""
    turned = P(*(names(entry)[::-1] or None for entry in spec))
    return solution(shape, mesh_shape, turned, position)


def mistake_takes_names_in_the_order_of_the_mesh(shape, mesh_shape, spec, position):
    """You took the names of a tuple in the order of the mesh, not of the tuple."""
    known = list(mesh_shape)
    sets = (tuple(sorted(names(entry), key=known.index)) for entry in spec)
    return solution(shape, mesh_shape, P(*(entry or None for entry in sets)), position)


def mistake_pairs_axes_with_places(shape, mesh_shape, spec, position):
    """You paired the axes of array and mesh by position and ignored the names."""
    slices = []
    for length, count, k, entry in zip(
        shape, mesh_shape.values(), position, spec, strict=True
    ):
        piece = length // count if entry else length
        start = piece * k if entry else 0
        slices.append(slice(start, start + piece))
    return tuple(slices)
