"""What a compiled program sends, told from its own text."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest
from jax import P, lax
from jax.sharding import NamedSharding

from book.compilers.command import module_of, names_chips, programs
from book.compilers.facts import collectives, overlapped, shortened, telling_lines
from book.compilers.hlo import collectives_of
from examples.tools.overlap import beside
from examples.tools.traffic import sends
from tests.devices import cpus

# From the program of a ring of matrix products, as the compiler of TPUs writes it.
NOTES = 'metadata={op_name="jit(f)/ppermute"}, backend_config={"barrier":{"id":"0"}}'
START = (
    "  %collective-permute-start.1 = (f32[64,128]{1,0:T(8,128)}, "
    "f32[64,128]{1,0:T(8,128)S(1)}, u32[]{:S(2)}, u32[]{:S(2)}) "
    "collective-permute-start(%param.1), channel_id=1, "
    "source_target_pairs={{0,1},{1,2},{2,3},{3,4},{4,5},{5,6},{6,7},{7,0}}, " + NOTES
)
OTHER = "  %copy.3 = f32[64,128]{1,0:T(8,128)} copy(%param.2)"
WORK = (
    "  %convolution_add_fusion = f32[64,64]{1,0:T(8,128)} fusion(%param.1, %param.2), "
    "kind=kOutput, calls=%fused_computation, " + NOTES
)
DONE = (
    "  %collective-permute-done.1 = f32[64,128]{1,0:T(8,128)S(1)} "
    "collective-permute-done(%collective-permute-start.1), " + NOTES
)


def eight():
    """Return a mesh of CPUs, whose compiler is the same wherever these tests run."""
    return jax.make_mesh((8,), ("rows",), devices=cpus(8))


FUSED = """
%fused_computation (a: f32[64,128], b: f32[128,64]) -> f32[64,64] {
  %a = f32[64,128]{1,0:T(8,128)} parameter(0)
  %b = f32[128,64]{1,0:T(8,128)} parameter(1)
  ROOT %convolution.1 = f32[64,64]{1,0:T(8,128)} convolution(%a, %b), dim_labels=bf_io
}

%sliced_computation (a: f32[64,64]) -> f32[8,64] {
  %a = f32[64,64]{1,0:T(8,128)} parameter(0)
  ROOT %slice.1 = f32[8,64]{1,0:T(8,128)} slice(%a), slice={[0:8], [0:64]}
}

ENTRY %main (x: f32[64,128], y: f32[128,64]) -> f32[64,64] {
"""
SLICE = (
    "  %wrapped_slice = f32[8,64]{1,0:T(8,128)} fusion(%convolution_add_fusion), "
    "kind=kLoop, calls=%sliced_computation, " + NOTES
)


def text_of(*lines):
    """Return what is asked of a compiled program: its text, with these in its entry."""
    text = "\n".join([FUSED, *lines, "}"])
    return SimpleNamespace(as_text=lambda: text)


def test_a_collective_with_work_beside_it_is_shown_with_that_work():
    start, work, done = telling_lines(text_of(START, OTHER, WORK, DONE))
    assert start.startswith("collective-permute-start.1 = ")
    assert work.startswith("convolution_add_fusion = ")
    assert done.startswith("collective-permute-done.1 = ")


def test_what_is_awaited_at_once_hides_nothing():
    alone = text_of(START, DONE, WORK)
    beside = text_of(START, OTHER, WORK, DONE)
    assert overlapped(alone) == {"started": 1, "beside work": 0}
    assert overlapped(beside) == {"started": 1, "beside work": 1}
    assert len(telling_lines(alone)) == 2


def test_what_takes_a_part_of_a_product_is_no_product():
    parts = text_of(WORK, START, SLICE, DONE)
    assert overlapped(parts) == {"started": 1, "beside work": 0}
    assert len(telling_lines(parts)) == 2


def test_a_loop_with_a_product_is_work():
    body = FUSED.replace("ENTRY %main", "%body") + WORK + "\n}\n"
    loop = "  %while.1 = f32[64,64]{1,0} while(%t), condition=%c, body=%body"
    entry = "ENTRY %main (x: f32[64,128]) -> f32[64,64] {"
    text = "\n".join([body, entry, START, loop, DONE, "}"])
    around = SimpleNamespace(as_text=lambda: text)
    assert overlapped(around) == {"started": 1, "beside work": 1}


def test_a_line_is_shortened_and_not_reworded():
    short = shortened(START.strip())
    assert short == (
        "collective-permute-start.1 = (f32[64,128], f32[64,128], u32[], u32[])"
        " collective-permute-start(param.1), source_target_pairs={{0,1},…}"
    )


@pytest.fixture
def rows():
    """Eight rows of 128 numbers, as shapes on a mesh of eight."""
    mesh = eight()
    sharding = NamedSharding(mesh, P("rows"))
    return mesh, jax.ShapeDtypeStruct((8, 128), jnp.float32, sharding=sharding)


def compiled(body, rows):
    """Compile a body for every device."""
    mesh, x = rows
    one = P("rows")
    mapped = jax.shard_map(body, mesh=mesh, in_specs=one, out_specs=one)
    return jax.jit(mapped).lower(x).compile()


def test_equal_collectives_are_one_with_a_count(rows):
    ring = [(k, (k + 1) % 8) for k in range(8)]

    def body(x):
        for _ in range(3):
            x = jnp.sin(lax.ppermute(x, "rows", ring))
        return x

    (found,) = collectives(compiled(body, rows))
    assert found["kind"] == "collective-permute" and found["groups"] == "8 pairs"
    assert found["operand"] == found["moved"] == 512
    assert found["count"] == 3 and found["times"] == 1


def test_what_a_loop_sends_is_counted_for_each_turn(rows):
    ring = [(k, (k + 1) % 8) for k in range(8)]

    def body(x):
        turn = lambda _, x: jnp.sin(lax.ppermute(x, "rows", ring))  # noqa: E731
        return lax.fori_loop(0, 5, turn, x)

    (found,) = collectives(compiled(body, rows))
    assert found["times"] == 5 and found["count"] == 1


def test_a_program_that_sends_nothing_has_nothing_to_tell(rows):
    quiet = compiled(jnp.sin, rows)
    assert collectives(quiet) == [] and telling_lines(quiet) == []
    assert overlapped(quiet) == {"started": 0, "beside work": 0}


# ---- the instrument of the book and the engine's reader, held to the same answers ----


def facts_of(found):
    """What both say of each collective, in an order of its own: each has another."""
    return sorted((s.kind, s.operand, s.groups, str(s.times), s.moved) for s in found)


@pytest.mark.parametrize(
    ("program", "way"),
    [(n, way) for n, ways in programs().items() for way in ways if not names_chips(n)],
)
def test_the_instrument_reads_every_program_as_the_engine_does(program, way):
    found = getattr(module_of(program), way)(eight()).compile()
    assert facts_of(sends(found)) == facts_of(collectives_of(found.as_text()))


HEAD = "HloModule m, is_scheduled=true, num_partitions=8\n"
TWINS = """
%add (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}}

ENTRY %main (x: f32[4,128], y: u32[]) -> f32[] {{
  %x = f32[4,128]{{1,0:T(8,128)}} parameter(0)
  %y = bf16[16]{{0:T(256)(2,1)}} parameter(1)
  {line}
}}
"""
GROUPS = "replica_groups=mesh['rows'=4,'inner'=2] {'rows'}"
PAIRS = "source_target_pairs={{0,1},{1,0}}"
BLOCK = 4 * 128 * 4
X = "f32[4,128]{1,0:T(8,128)}"


@pytest.mark.parametrize(
    ("kind", "result", "rest", "operand"),
    [
        ("all-reduce", X, f"(%x), {GROUPS}, to_apply=%add", BLOCK),
        ("all-reduce-start", X, f"(%x), {GROUPS}, to_apply=%add", BLOCK),
        ("all-reduce-start", f"(({X}), {X})", f"(%x), {GROUPS}, to_apply=%add", BLOCK),
        (
            "all-reduce-start",
            f"(({X}, bf16[16]{{0:T(256)(2,1)}}), ({X}, bf16[16]{{0}}))",
            f"(%x, %y), {GROUPS}, to_apply=%add",
            BLOCK + 32,
        ),
        ("all-gather", "f32[16,128]{1,0}", f"(%x), {GROUPS}", BLOCK),
        ("all-gather-start", f"({X}, f32[16,128]{{1,0}})", f"(%x), {GROUPS}", BLOCK),
        ("all-gather-start", f"(({X}), f32[16,128]{{1,0}})", f"(%x), {GROUPS}", BLOCK),
        ("reduce-scatter", "f32[1,128]{1,0}", f"(%x), {GROUPS}, to_apply=%add", BLOCK),
        (
            "reduce-scatter-start",
            f"(({X}), f32[1,128]{{1,0}})",
            f"(%x), {GROUPS}, to_apply=%add",
            BLOCK,
        ),
        ("all-to-all", X, f"(%x), {GROUPS}", BLOCK),
        ("all-to-all-start", f"(({X}), {X})", f"(%x), {GROUPS}", BLOCK),
        ("collective-permute", X, f"(%x), {PAIRS}", BLOCK),
        (
            "collective-permute-start",
            f"({X}, {X}, u32[], u32[])",
            f"(%x), {PAIRS}",
            BLOCK,
        ),
        ("collective-permute-start", f"(({X}), {X})", f"(%x), {PAIRS}", BLOCK),
    ],
)
def test_one_that_is_started_and_awaited_apart_counts_once(kind, result, rest, operand):
    line = f"%c = {result} {kind}{rest}\n"
    if kind.endswith("-start"):
        line += f"  %d = {X} {kind.replace('-start', '-done')}(%c)\n"
    text = HEAD + TWINS.format(line=line)
    [one] = collectives_of(text)
    assert (one.kind, one.operand) == (kind.removesuffix("-start"), operand)
    assert facts_of(sends(SimpleNamespace(as_text=lambda: text))) == facts_of([one])


# As compilers of TPUs write a reduce-scatter into which the division is fused, and one
# all-reduce beside it.
SCATTERED = f"""
%all-reduce-scatter.6 (i: f32[4,128], j: bf16[16]) -> (f32[1,128], bf16[4]) {{
  %i = {X} parameter(0)
  %j = bf16[16]{{0:T(256)(2,1)}} parameter(1)
  %all-reduce.2 = ({X}, bf16[16]{{0}}) all-reduce(%i, %j), {GROUPS}, to_apply=%add
  %get.1 = {X} get-tuple-element(%all-reduce.2), index=0
  ROOT %slice.1 = f32[1,128]{{1,0}} slice(%get.1), slice={{[0:1], [0:128]}}
}}

ENTRY %main (x: f32[4,128], y: bf16[16]) -> f32[1,128] {{
  %x = {X} parameter(0)
  %y = bf16[16]{{0:T(256)(2,1)}} parameter(1)
  %all-reduce.1 = {X} all-reduce(%x), {GROUPS}, to_apply=%add
  %fusion.3 = (f32[1,128]{{1,0}}, bf16[4]{{0}}) fusion(%x, %y), kind=kCustom, \
calls=%all-reduce-scatter.6, {NOTES}
}}
"""


def test_a_sum_fused_with_its_division_is_a_reduce_scatter():
    text = HEAD + SCATTERED
    both = [("all-reduce", BLOCK), ("reduce-scatter", BLOCK + 32)]
    found = collectives_of(text)
    assert sorted((one.kind, one.operand) for one in found) == both
    stage = SimpleNamespace(as_text=lambda: text)
    assert facts_of(sends(stage)) == facts_of(found)
    assert beside(text) == {"all-reduce alone": 1, "reduce-scatter alone": 1}
    whole, scattered = telling_lines(stage)
    assert whole.startswith("all-reduce.1 = f32[4,128] all-reduce(x)")
    assert scattered == (
        "fusion.3 = (f32[1,128], bf16[4]) fusion(x, y), "
        "kind=kCustom, calls=all-reduce-scatter.6"
    )


# As the compiler of TPU v5e writes a gather that goes on while products are computed.
STATE = f"({X}, f32[16,128]{{1,0}}, s32[2], u32[])"
GATHER = f"f32[16,128]{{1,0}} all-gather(%a), channel_id=7, {GROUPS}"
IN_FUSIONS = f"""
%fused_computation.1 (a: f32[4,128]) -> {STATE} {{
  %a = {X} parameter(0)
  %all-gather.1 = {GATHER}
  ROOT %custom-call.1 = {STATE} custom-call(%all-gather.1), \
custom_call_target="AsyncCollectiveStart"
}}

%async_collective_fusion.2 (a: f32[4,128], b: f32[4,128]) -> (f32[4,4], {STATE}) {{
  %a = {X} parameter(0)
  %b = {X} parameter(1)
  %all-gather.2 = {GATHER}
  %product = f32[4,4]{{1,0}} convolution(%a, %b), dim_labels=bf_oi->bf
  ROOT %tuple = (f32[4,4], {STATE}) tuple(%product, %all-gather.2)
}}

%fused_computation.3 (a: f32[4,128]) -> f32[16,128] {{
  %a = {X} parameter(0)
  %all-gather.3 = {GATHER}
  ROOT %custom-call.3 = f32[16,128] custom-call(%a, %all-gather.3), \
custom_call_target="AsyncCollectiveDone"
}}

ENTRY %main (x: f32[4,128], y: f32[4,128]) -> f32[16,128] {{
  %x = {X} parameter(0)
  %y = {X} parameter(1)
  %async-collective-start = {STATE} fusion(%x), kind=kCustom, \
calls=%fused_computation.1, {NOTES}
  %fusion.2 = (f32[4,4], {STATE}) fusion(%async-collective-start, %y), kind=kOutput, \
output_to_operand_aliasing={{{{1}}: (0, {{}}), {{2}}: (1, {{}})}}, \
calls=%async_collective_fusion.2, {NOTES}
  %get.1 = {STATE} get-tuple-element(%fusion.2), index=1
  ROOT %async-collective-done = f32[16,128] fusion(%get.1), kind=kCustom, \
calls=%fused_computation.3, {NOTES}
}}
"""


def test_a_gather_that_goes_on_in_several_fusions_counts_once_and_runs_beside_them():
    text = HEAD + IN_FUSIONS
    [one] = found = collectives_of(text)
    assert (one.kind, one.operand) == ("all-gather", BLOCK)
    stage = SimpleNamespace(as_text=lambda: text)
    assert facts_of(sends(stage)) == facts_of(found)
    assert overlapped(stage) == {"started": 1, "beside work": 1}
    assert beside(text) == {"all-gather beside a product": 1}
    start, product, done = telling_lines(stage)
    assert start.startswith("all-gather.1 = f32[16,128] all-gather(a)")
    assert product.endswith("kind=kOutput, calls=async_collective_fusion.2")
    assert done.startswith("async-collective-done = f32[16,128] fusion(get.1)")
