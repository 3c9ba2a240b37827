"""What a PartitionSpec says is what NumPy's splits say, for every spec there is."""

from itertools import product

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import P
from jax.sharding import NamedSharding

from examples.exercises.cut_an_array import solution
from examples.mesh.cut_an_array import every_spec, held, names, pieces, same
from tests.devices import cpus

NAMES = "rows", "inner", "batch"
SIZES = [(1,), (3,), (8,), (2, 4), (4, 2), (3, 2), (1, 8), (5, 1), (2, 2, 2), (1, 2, 3)]


def mesh_of(sizes):
    """A mesh of the first devices, as `sizes` says."""
    devices = cpus(int(np.prod(sizes)))
    return jax.make_mesh(sizes, NAMES[: len(sizes)], devices=devices)


@st.composite
def cuts(draw):
    """Return a mesh, a spec with or without the `None`s at its end, and a shape."""
    mesh = mesh_of(draw(st.sampled_from(SIZES)))
    ndim = draw(st.integers(1, 3))
    spec = draw(st.sampled_from(list(every_spec(ndim, mesh.axis_names))))
    needed = [np.prod([mesh.shape[n] for n in names(e)], dtype=int) for e in spec]
    shape = tuple(int(n) * draw(st.integers(0, 2)) for n in needed)
    short = list(spec)
    while short and short[-1] is None and draw(st.booleans()):
        short.pop()
    return mesh, P(*short), shape


@settings(max_examples=150, deadline=None, derandomize=True)
@given(cuts())
def test_devices_hold_what_numpy_splits(cut):
    mesh, spec, shape = cut
    table = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    x = jax.device_put(table, NamedSharding(mesh, spec))
    assert same(held(x), pieces(table, mesh.shape, spec))
    assert np.array_equal(x, table)


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_spec_slices_as_numpy_splits(sizes, ndim):
    mesh = mesh_of(sizes)
    table = np.arange(12**ndim).reshape((12,) * ndim)[..., :6]
    for spec in every_spec(ndim, mesh.axis_names):
        try:
            expected = pieces(table, mesh.shape, spec)
        except ValueError:  # not even
            with pytest.raises(ValueError, match="evenly divide"):
                NamedSharding(mesh, spec).shard_shape(table.shape)
            continue
        sharding = NamedSharding(mesh, spec)
        found = sharding.devices_indices_map(table.shape)
        for place, piece in expected.items():
            assert piece.shape == sharding.shard_shape(table.shape)
            assert np.array_equal(table[found[mesh.devices[place]]], piece)
            slices = solution(table.shape, dict(mesh.shape), spec, place)
            assert np.array_equal(table[slices], piece)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_every_spec_is_there_once(ndim):
    entries = [(), ("rows",), ("inner",), ("rows", "inner"), ("inner", "rows")]
    known = {
        P(*(entry or None for entry in spec))
        for spec in product(entries, repeat=ndim)
        if len(sum(spec, ())) == len(set(sum(spec, ())))
    }
    found = list(every_spec(ndim, ("rows", "inner")))
    assert len(found) == len(set(found))
    assert set(found) == known


def test_an_axis_that_does_not_divide_evenly_is_refused():
    with pytest.raises(ValueError, match="equal division"):
        pieces(np.arange(6), {"rows": 4}, P("rows"))


def test_an_unknown_name_is_refused():
    with pytest.raises(KeyError, match="batch"):
        pieces(np.arange(8), {"rows": 4}, P("batch"))
