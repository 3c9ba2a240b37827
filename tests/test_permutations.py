"""Each list of blocks is its collective: for any shape and axis, on part of a mesh."""

from functools import cache, partial

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import P, lax
from jax.sharding import NamedSharding

from examples.collectives import (
    all_gather,
    all_in_a_row,
    all_to_all,
    ppermute,
    psum,
    psum_scatter,
)
from examples.collectives.blocks import blocks_of, in_groups
from examples.pmap import collectives as of_pmap
from examples.tools.traffic import sends
from tests.devices import cpus

NAMES = ("rows", "inner", "batch")
MESHES = (1,), (2,), (4,), (8,), (4, 2), (2, 2, 2)
ALONG = [(shape, name) for shape in MESHES for name in NAMES[: len(shape)]]

bounded = settings(max_examples=25, deadline=None, derandomize=True)
along = st.sampled_from(ALONG)
lengths = st.integers(1, 3)


@cache
def mesh_of(shape):
    """Return a mesh of the first devices, with as many axes as `shape` is long."""
    devices = cpus(int(np.prod(shape)))
    return jax.make_mesh(shape, NAMES[: len(shape)], devices=devices)


def size_of(place):
    """Return how many devices talk: (shape of a mesh, name of its axis) to an int."""
    shape, name = place
    return shape[NAMES.index(name)]


def groups_of(place):
    """Return the positions that talk, a group in each row."""
    shape, name = place
    positions = np.arange(np.prod(shape)).reshape(shape)
    return np.moveaxis(positions, NAMES.index(name), -1).reshape(-1, size_of(place))


def on_each(shape, body, block):
    """Give each device of a mesh numbers of its own, in the shape `block`.

    Returns the function that runs `body` on each, and its argument.
    """

    def alone(x):  # with an axis in front, for the devices
        return jax.tree.map(lambda found: found[None], body(x[0]))

    mesh, one = mesh_of(shape), P(NAMES[: len(shape)])
    count = int(np.prod((*shape, *block)))
    x = np.arange(1, count + 1, dtype=np.float32).reshape(-1, *block)
    fn = jax.jit(jax.shard_map(alone, mesh=mesh, in_specs=one, out_specs=one))
    return fn, jax.device_put(x, NamedSharding(mesh, one))


@jax.jit(static_argnums=0)
def there_and_back(fn, x):
    """Return what `fn` makes of `x`, and what its transpose makes of that."""
    y, pull = jax.vjp(fn, x)
    return y, *pull(y)


def same(found, reference, x, place):
    """Assert that each device holds what `reference` says, in groups along an axis."""
    blocks = [block[0] for block in blocks_of(x)]
    expected = in_groups(reference, blocks, groups_of(place).tolist())
    for ours, theirs in zip(expected, blocks_of(found), strict=True):
        assert ours.shape == theirs[0].shape and np.array_equal(ours, theirs[0])


@st.composite
def exchanges(draw):
    """Return a place, the shape of a block, and the arguments of an all_to_all."""
    place, tiled = draw(along), draw(st.booleans())
    block = draw(st.lists(lengths, min_size=1, max_size=3))
    split, concat = (draw(st.integers(0, len(block) - 1)) for _ in range(2))
    block[split] = size_of(place) * (block[split] if tiled else 1)
    axes = {"split_axis": split, "concat_axis": concat, "tiled": tiled}
    return place, tuple(block), axes


@bounded
@given(exchanges())
def test_all_to_all_is_its_list_of_blocks_and_its_gradient_goes_back(case):
    place, block, axes = case
    body = partial(lax.all_to_all, axis_name=place[1], **axes)
    fn, x = on_each(place[0], body, block)
    if axes["tiled"] or axes["split_axis"] == axes["concat_axis"]:
        found, gradient = there_and_back(fn, x)
        assert np.array_equal(gradient, x)
    else:  # JAX has no gradient there, as the page shows
        found = fn(x)
    same(found, partial(all_to_all.reference, **axes), x, place)


@st.composite
def permutes(draw):
    """Return a place, the shape of a block, and pairs, not all devices in them."""
    place = draw(along)
    targets = draw(st.permutations(range(size_of(place))))
    pairs = list(enumerate(targets))[: draw(st.integers(0, len(targets)))]
    block = tuple(draw(st.lists(lengths, max_size=3)))
    return place, block, draw(st.permutations(pairs))


@bounded
@given(permutes())
def test_ppermute_is_its_list_of_blocks_and_its_gradient_sends_back(case):
    place, block, pairs = case
    body = partial(lax.ppermute, axis_name=place[1], perm=pairs)
    fn, x = on_each(place[0], body, block)
    found, gradient = there_and_back(fn, x)
    same(found, partial(ppermute.reference, perm=pairs), x, place)
    back = [(target, source) for source, target in pairs]
    same(gradient, partial(ppermute.reference, perm=back), found, place)


@bounded
@given(st.integers(1, 8), st.integers(-9, 9))
def test_a_shift_is_a_ring_with_a_gap(n, by):
    assert set(ppermute.shift(n, by)) <= set(ppermute.ring(n, by)) or abs(by) >= n
    blocks = [np.float32([d + 1]) for d in range(n)]
    around = ppermute.reference(blocks, ppermute.ring(n, by))
    assert np.array_equal(around, np.roll(blocks, by, axis=0))
    gaps = ppermute.reference(blocks, ppermute.shift(n, by)).count(0)
    assert gaps == min(n, abs(by))


@settings(bounded, max_examples=15)
@given(along, lengths, st.lists(lengths, max_size=2))
def test_a_ring_of_sends_gathers_and_adds(place, k, more):
    name = place[1]

    def body(block):
        return {
            "rings": [
                ppermute.ring_all_gather(block, name),
                ppermute.ring_psum_scatter(block, name),
            ],
            "calls": [
                lax.all_gather(block, name, tiled=True),
                lax.psum_scatter(block, name, tiled=True),
            ],
        }

    fn, x = on_each(place[0], body, (k * size_of(place), *more))
    found = fn(x)
    for by_ring, at_once in zip(found["rings"], found["calls"], strict=True):
        assert np.array_equal(by_ring, at_once)


@settings(bounded, max_examples=15)
@given(st.sampled_from(MESHES[:4]), lengths, lengths)
def test_rows_become_columns_and_rows_again(shape, down, across):
    (n,), mesh = shape, mesh_of(shape)
    table = np.arange(n * down * n * across, dtype=np.float32).reshape(n * down, -1)

    @jax.jit
    def there_and_back(x):
        columns = all_to_all.to_columns(mesh)(x)
        return columns, all_to_all.to_rows(mesh)(columns)

    x = jax.device_put(table, NamedSharding(mesh, P("rows")))
    columns, rows = there_and_back(x)
    assert np.array_equal(columns, table) and np.array_equal(rows, table)
    assert np.array_equal(blocks_of(columns), np.split(table, n, axis=1))


@pytest.mark.parametrize("n", [2, 4, 8])
def test_all_seven_hold_on_any_number_of_devices(n):
    mesh = mesh_of((n,))
    x = ppermute.numbers(n, each=n)
    placed = jax.device_put(x, NamedSharding(mesh, P("rows")))
    expected = all_in_a_row.references(blocks_of(placed))

    def all_seven(block):
        bodies = all_in_a_row.bodies(n)
        return {name: body(block) for name, body in bodies.items()}

    found = all_to_all.on_rows(mesh, all_seven)(placed)
    assert found.keys() == all_in_a_row.RING.keys()
    for name, sent in all_in_a_row.RING.items():
        assert np.array_equal(blocks_of(found[name]), expected[name])
        assert sent(4 * 3 * n, n) == all_in_a_row.measured(name, mesh, k=3 * n)


@bounded
@given(st.integers(1, 9), lengths)
def test_the_lists_in_a_row_are_those_of_the_pages(n, k):
    blocks = [8.0 * np.arange(n * k) + 1000 * d for d in range(n)]
    pages = {
        "psum": psum.reference(blocks),
        "pmean": psum.reference(blocks, np.mean),
        "pmax": psum.reference(blocks, np.max),
        "all_gather": all_gather.reference(blocks, tiled=True),
        "psum_scatter": psum_scatter.reference(blocks, tiled=True),
        "all_to_all": all_to_all.reference(blocks, 0, 0, tiled=True),
        "ppermute": ppermute.reference(blocks, ppermute.ring(n)),
    }
    row = all_in_a_row.references(blocks)
    assert row.keys() == pages.keys() == all_in_a_row.RING.keys()
    assert all(np.array_equal(row[name], pages[name]) for name in pages)


def test_the_lists_of_the_page_on_pmap_are_cases_of_these():
    blocks = [*np.arange(64.0).reshape(8, 8)]
    exchanged = all_to_all.reference(blocks, 0, 0)
    assert np.array_equal(exchanged, of_pmap.all_to_all(blocks))
    around = ppermute.reference(blocks, ppermute.ring(8))
    assert np.array_equal(around, of_pmap.ppermute(blocks))


def test_the_programs_send_the_bytes_of_the_formulas():
    mesh, held = mesh_of((8,)), 4 * 2**20
    moved = {
        all_to_all.lower: [held * 7 // 8],
        all_to_all.lower_by_heads: [2**20 * 7 // 8] * 4,
        ppermute.lower: [held],
        ppermute.lower_ring_all_gather: [held] * 7,
        ppermute.lower_ring_psum_scatter: [held // 8] * 7,
    }
    for lower, each in moved.items():
        assert [sent.moved for sent in sends(lower(mesh))] == each
    assert len(sends(all_in_a_row.lower(mesh))) == 6  # pmean shares the psum
