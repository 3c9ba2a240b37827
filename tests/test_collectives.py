"""A collective is its list of blocks: on any mesh, along any axes, in any groups."""

import re
from functools import cache, partial
from itertools import permutations
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jax import P, lax
from jax.sharding import NamedSharding

from examples.collectives import all_gather, psum, psum_scatter
from examples.collectives.blocks import blocks_of, in_groups
from examples.pmap.collectives import BOTH_WAYS
from examples.scale.how_long import said
from examples.tools.traffic import sends
from tests.devices import cpus

GRIDS = {
    **{(n,): ("rows",) for n in (1, 2, 4, 8)},
    (4, 2): ("rows", "inner"),
    (2, 2, 2): ("rows", "inner", "batch"),
}
REDUCTIONS = {lax.psum: np.sum, lax.pmean: np.mean, lax.pmax: np.max, lax.pmin: np.min}
few = partial(
    settings,
    deadline=None,  # each example compiles
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@cache
def grid(shape):
    """A mesh of this shape of CPU devices."""
    devices = cpus(int(np.prod(shape)))
    return jax.make_mesh(shape, GRIDS[shape], devices=devices)


def groups_along(mesh, axes):
    """The positions of devices that differ along `axes` only, as `axes` count them."""
    ids = np.arange(mesh.size).reshape(mesh.devices.shape)
    inside = [mesh.axis_names.index(name) for name in axes]
    ids = np.moveaxis(ids, inside, range(-len(axes), 0))
    return ids.reshape(-1, np.prod([mesh.shape[name] for name in axes])).tolist()


def on_each(mesh, body, *stacked):
    """What each device holds after `body` of its entry of each of `stacked`."""
    every = P(mesh.axis_names)

    def one(*blocks):
        return body(*(block[0] for block in blocks))[None]

    mapped = jax.shard_map(one, mesh=mesh, in_specs=every, out_specs=every)
    placed = jax.device_put(stacked, NamedSharding(mesh, every))
    return [block[0] for block in blocks_of(jax.jit(mapped)(*placed))]


def same(found, expected):
    """Assert that two lists hold equal blocks of equal shapes."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == np.shape(other)
        assert np.array_equal(one, other)


def whole_numbers(*shape):
    """Multiples of eight as float32: sums and means of up to eight are exact."""
    numbers = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return 8 * (numbers * 5 % 23)


@st.composite
def blocks_for(draw, kind, size):
    """Draw `(collective, reference, options, shape)` for `size` devices."""
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    if kind == "reduce":
        collective = draw(st.sampled_from([*REDUCTIONS]))
        options = {"how": REDUCTIONS[collective]}
        return collective, psum.reference, options, shape
    tiled = draw(st.booleans())
    if kind == "gather":
        axis = draw(st.integers(0, len(shape) - tiled))
        options = {"axis": axis, "tiled": tiled}
        collective = partial(lax.all_gather, **options)
        return collective, all_gather.reference, options, shape
    dimension = draw(st.integers(0, len(shape) - 1))
    shape[dimension] = size * draw(st.integers(1, 3)) if tiled else size
    options = {"scatter_dimension": dimension, "tiled": tiled}
    collective = partial(lax.psum_scatter, **options)
    return collective, psum_scatter.reference, options, shape


@st.composite
def along_axes(draw, kind):
    """Draw a mesh, some of its axes in some order, and a collective along them."""
    mesh = grid(draw(st.sampled_from([*GRIDS])))
    names = mesh.axis_names
    orders = [o for k in range(len(names)) for o in permutations(names, k + 1)]
    axes = draw(st.sampled_from(orders))
    size = int(np.prod([mesh.shape[name] for name in axes]))
    return mesh, axes, *draw(blocks_for(kind, size))


@st.composite
def in_groups_of_a_pmap(draw, kind):
    """Draw groups of equal size, of devices in any order, and a collective in them."""
    count = draw(st.sampled_from([1, 2, 4, 8]))
    size = draw(st.sampled_from([s for s in (1, 2, 4, 8) if s <= count]))
    order = draw(st.permutations(range(count)))
    groups = np.reshape(order, (-1, size)).tolist()
    return count, groups, *draw(blocks_for(kind, size))


def hold_along_axes(drawn):
    mesh, axes, collective, reference, options, shape = drawn
    x = whole_numbers(mesh.size, *shape)
    axes_or_one = axes if len(axes) > 1 else axes[0]
    found = on_each(mesh, lambda block: collective(block, axes_or_one), x)
    same(found, in_groups(reference, [*x], groups_along(mesh, axes), **options))


def hold_in_groups(drawn):
    count, groups, collective, reference, options, shape = drawn
    x = whole_numbers(count, *shape)
    devices = cpus(count)
    grouped = partial(collective, axis_name="rows", axis_index_groups=groups)
    found = jax.pmap(grouped, axis_name="rows", devices=devices)(x)
    same(np.asarray(found), in_groups(reference, [*x], groups, **options))


@pytest.mark.parametrize("kind", ["reduce", "gather", "scatter"])
@few(max_examples=25)
@given(st.data())
def test_along_axes_of_a_mesh(kind, data):
    hold_along_axes(data.draw(along_axes(kind)))


@pytest.mark.parametrize("kind", ["reduce", "gather", "scatter"])
@few(max_examples=25)
@given(st.data())
def test_in_groups_of_a_pmap(kind, data):
    hold_in_groups(data.draw(in_groups_of_a_pmap(kind)))


@few(max_examples=12)
@given(along_axes("scatter"))
def test_the_transpose_of_one_is_the_other(drawn):
    """Cotangents go back through a scattered sum as a gather, and the other way."""
    mesh, axes, collective, reference, options, shape = drawn
    groups = groups_along(mesh, axes)
    dimension, tiled = options.values()
    x = whole_numbers(mesh.size, *shape)
    scattered = in_groups(reference, [*x], groups, **options)
    gather = partial(lax.all_gather, axis=dimension, tiled=tiled)

    def back(forward, primal, cotangent):
        pull = jax.vjp(partial(forward, axis_name=axes), primal)[1]
        return pull(cotangent)[0]

    parts = whole_numbers(mesh.size, *scattered[0].shape)
    options = {"axis": dimension, "tiled": tiled}
    gathered = in_groups(all_gather.reference, [*parts], groups, **options)
    same(on_each(mesh, partial(back, collective), x, parts), gathered)
    same(on_each(mesh, partial(back, gather), parts, x), scattered)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_sum_is_a_scattered_sum_and_a_gather(data):
    """In lists of blocks: no device is asked."""
    size = data.draw(st.integers(1, 9))
    _, reference, options, shape = data.draw(blocks_for("scatter", size))
    dimension, tiled = options.values()
    blocks = [*whole_numbers(size, *shape)]
    parts = reference(blocks, **options)
    whole = all_gather.reference(parts, axis=dimension, tiled=tiled)
    same(whole, psum.reference(blocks))


@pytest.mark.parametrize("n", [2, 8])
def test_the_functions_of_the_pages(n):
    mesh = grid((n,))
    x = jax.device_put(whole_numbers(n * n, 2), NamedSharding(mesh, P("rows")))
    blocks = blocks_of(x)
    for collective, how in REDUCTIONS.items():
        found = psum.summed(x, mesh, collective)
        same(blocks_of(found), psum.reference(blocks, how))
    for options in [(0, False), (2, False), (1, True)]:
        found = all_gather.gathered(x, mesh, *options)
        same(blocks_of(found), all_gather.reference(blocks, *options))
    for options in [(0, False), (0, True)]:
        found = psum_scatter.scattered(x, mesh, *options)
        same(blocks_of(found), psum_scatter.reference(blocks, *options))
    found = psum_scatter.in_two_steps(x, mesh)
    same(blocks_of(found), psum.reference(blocks))


@pytest.mark.parametrize("program", [psum, all_gather, psum_scatter])
def test_pairs_are_the_inner_axis_and_the_bytes_are_the_formula(program):
    mesh = grid((8,))
    [sent] = sends(program.lower(mesh))
    assert sent.operand == 4 * 2**20
    assert sent.groups == (tuple(range(8)),)
    assert sent.moved == program.ring_bytes(sent.operand, 8)
    [sent] = sends(program.lower_along_inner(mesh))
    assert sent.operand == 4 * 2**20
    assert [*map(list, sent.groups)] == groups_along(grid((4, 2)), ("inner",))
    assert sent.moved == program.ring_bytes(sent.operand, 2)


def test_blocks_that_do_not_divide_are_refused_by_both():
    blocks = [*whole_numbers(8, 12)]
    with pytest.raises(ValueError, match="equal division"):
        psum_scatter.reference(blocks, tiled=True)
    with pytest.raises(ValueError, match="divisible by shard_count 8"):
        on_each(
            grid((8,)),
            partial(lax.psum_scatter, axis_name="rows", tiled=True),
            np.stack(blocks),
        )
    with pytest.raises(ValueError, match="size not equal to one"):
        psum_scatter.reference([*whole_numbers(8, 16)])


@pytest.mark.parametrize(
    "name", ["psum", "pmean", "pmax", "all_gather", "psum_scatter"]
)
def test_a_pmap_means_the_same(name):
    """The one-line lists that the page on pmap shows are cases of these."""
    references = {
        "psum": psum.reference,
        "pmean": partial(psum.reference, how=np.mean),
        "pmax": partial(psum.reference, how=np.max),
        "all_gather": all_gather.reference,
        "psum_scatter": psum_scatter.reference,
    }
    blocks = [*whole_numbers(8, 8)]
    same(references[name](blocks), BOTH_WAYS[name][1](blocks))


@pytest.mark.parametrize(
    "name", ["psum", "psum_scatter", "all_gather", "all_to_all", "ppermute"]
)
def test_the_comparison_says_the_seconds_that_the_published_figures_give(name):
    page = (Path(__file__).parents[1] / "docs/collectives/all_in_a_row.md").read_text()
    v5e, torus, switch = re.findall(r"\d+\.\d+ ms", said(name))
    [row] = re.findall(rf"^\| `{name}`[^|]*\| \d.*ms.*$", page, re.MULTILINE)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:3] == [v5e, torus] and cells[3].startswith(switch)
