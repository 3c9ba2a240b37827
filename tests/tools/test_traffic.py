"""The collectives of a compiled program, with their bytes and their groups."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest
from jax import P, lax
from jax.sharding import NamedSharding

from examples.tools.traffic import sends, what_it_sends
from tests.devices import cpus

BLOCK = 4 * 2 * 128  # bytes of float32 that a device holds
SAID = """HloModule m, num_partitions=8
ENTRY %main (x: f32[4,128]) -> f32[4,128] {{
  %x = f32[4,128]{{1,0}} parameter(0)
  %y = f32[4,128]{{1,0}} all-reduce(%x), channel_id=1, replica_groups={}, to_apply=%add
"""
ON_A_SPARSE_CORE = """HloModule m, num_partitions=8
%fusion (p: f32[8,16]) -> f32[64,16] {
  %p = f32[8,16]{1,0} parameter(0)
  ROOT %all-gather.2 = f32[64,16]{1,0} all-gather(%p), channel_id=1, replica_groups={}
}
%called (q: f32[8,16]) -> f32[64,16] {
  %q = f32[8,16]{1,0} parameter(0)
  ROOT %fused = f32[64,16]{1,0} fusion(%q), kind=kCustom, calls=%fusion
}
ENTRY %main (x: f32[8,16]) -> f32[64,16] {
  %x = f32[8,16]{1,0} parameter(0)
  %start = ((), (), (s32[1])) call-start(), async_execution_thread="sparsecore", \
to_apply=%called
  %update = ((f32[8,16]), f32[64,16]) call-update(%start, %x), backend_config={}
  ROOT %done = f32[64,16]{1,0} call-done(%update), backend_config={}
}
"""


@pytest.fixture
def mesh():
    """Four rows of two CPUs, whose compiler is the same wherever these tests run."""
    return jax.make_mesh((4, 2), ("rows", "inner"), devices=cpus(8))


def lowered(body, mesh):
    """Lower a body for blocks of (2, 128) on every device."""
    spec = P("rows", "inner")
    sharding = NamedSharding(mesh, spec)
    x = jax.ShapeDtypeStruct((8, 256), jnp.float32, sharding=sharding)
    mapped = jax.shard_map(
        body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False
    )
    return jax.jit(mapped).lower(x)


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        ("rows", ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("inner", ((0, 1), (2, 3), (4, 5), (6, 7))),
        (("rows", "inner"), (tuple(range(8)),)),
    ],
)
def test_groups_are_the_devices_along_the_axes(mesh, names, groups):
    (found,) = sends(lowered(lambda x: lax.psum(x, names), mesh))
    assert found.groups == groups


@pytest.mark.parametrize(
    ("body", "kind", "operand", "moved"),
    [
        (lambda x: lax.psum(x, "rows"), "all-reduce", BLOCK, 6 * BLOCK // 4),
        (lambda x: lax.all_gather(x, "rows"), "all-gather", BLOCK, 3 * BLOCK),
        (
            lambda x: lax.psum_scatter(x, "inner", tiled=True),
            "reduce-scatter",
            BLOCK,
            BLOCK // 2,
        ),
        (
            lambda x: lax.all_to_all(x, "inner", 0, 1, tiled=True),
            "all-to-all",
            BLOCK,
            BLOCK // 2,
        ),
        (
            lambda x: lax.ppermute(x, "rows", [(0, 1)]),
            "collective-permute",
            BLOCK,
            BLOCK,
        ),
    ],
)
def test_bytes_are_what_one_device_puts_in(mesh, body, kind, operand, moved):
    (found,) = sends(lowered(body, mesh))
    assert (found.kind, found.operand, found.moved) == (kind, operand, moved)
    assert found.times == 1


def test_turns_of_nested_loops_multiply_and_an_open_end_is_unknown(mesh):
    def body(x):
        def inner(_, x):
            return jnp.sin(lax.psum(x, "rows"))

        return lax.fori_loop(0, 3, lambda _, x: lax.fori_loop(0, 5, inner, x), x)

    def until(x):
        turn = lambda x: lax.psum(x, "rows")  # noqa: E731
        return lax.while_loop(lambda x: x.sum() < 100, turn, x)

    assert [found.times for found in sends(lowered(body, mesh))] == [15]
    assert [found.times for found in sends(lowered(until, mesh))] == [None]


@pytest.mark.parametrize(
    ("printed", "groups"),
    [
        ("{{0,1},{2,3}}", ((0, 1), (2, 3))),
        ("{}", (tuple(range(8)),)),
        ("[2,4]<=[8]", ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("[2,4]<=[4,2]T(1,0)", ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("mesh['rows'=4,'inner'=2] {'rows'}", ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("mesh['rows'=2,'inner'=4] {'inner':(2)2}", ((0, 1), (2, 3), (4, 5), (6, 7))),
        ("mesh['rows'=2,'inner'=4] {'inner':(1)2}", ((0, 2), (1, 3), (4, 6), (5, 7))),
        ("mesh['a'=2,'b'=4] {'b','a'}", ((0, 4, 1, 5, 2, 6, 3, 7),)),
        (
            "mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'b'}",
            ((0, 4), (1, 5), (2, 6), (3, 7)),
        ),
    ],
)
def test_every_way_to_print_groups_is_read(printed, groups):
    text = SAID.format(printed)
    (found,) = sends(SimpleNamespace(as_text=lambda: text))
    assert found.groups == groups and found.operand == 4 * 4 * 128


def test_groups_that_cannot_be_read_are_no_guess():
    text = SAID.format("somehow")
    with pytest.raises(ValueError, match="no groups of devices"):
        sends(SimpleNamespace(as_text=lambda: text))


def test_what_a_sparse_core_sends_counts_once():
    (found,) = sends(SimpleNamespace(as_text=lambda: ON_A_SPARSE_CORE))
    assert (found.kind, found.operand, found.times) == ("all-gather", 4 * 8 * 16, 1)


def test_the_table_says_when_nothing_is_sent(mesh, capsys):
    what_it_sends(jnp.sin, jnp.ones(3))
    assert capsys.readouterr().out == "no communication\n"
