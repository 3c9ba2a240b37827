"""What runs beside a collective is read from all forms in which XLA writes one."""

import json

import pytest

from examples.scale import overlap as program
from examples.tools.overlap import beside, excerpt

PRODUCT = """\
%product (p: f32[8,8], q: f32[8,8]) -> f32[8,8] {
  ROOT %dot.1 = f32[8,8]{1,0} dot(%p, %q), lhs_contracting_dims={1}
}
"""
LOOP = """\
%body (p: f32[8,8]) -> f32[8,8] {
LINES
}
ENTRY %main (p: f32[8,8]) -> f32[8,8] {
  ROOT %while = f32[8,8] while(%p), condition=%c, body=%body
}
"""
GATHER = "%all-gather.1 = f32[8,8]{1,0} all-gather(%p), channel_id=1"
START = "%all-gather-start.1 = (f32[1,8], f32[8,8]) all-gather-start(%p), channel_id=1"
DONE = "%all-gather-done.1 = f32[8,8]{1,0} all-gather-done(%all-gather-start.1)"
WORK = "%fusion.1 = f32[8,8]{1,0} fusion(%p, %p), kind=kCustom, calls=%product"
READS = "%copy.1 = f32[8,8]{1,0} copy(%fusion.1)"

CALLED = """\
%called (p: f32[1,8]) -> f32[8,8] {
  ROOT %all-gather.9 = f32[8,8]{1,0} all-gather(%p), channel_id=2
}
"""
CALL = [
    "%g.1.call-start = ((), (), (s32[1])) call-start(), to_apply=%called",
    "%g.1.call-update = ((f32[1,8]), f32[8,8]) call-update(%g.1.call-start, %p)",
    "%g.1.call-done = f32[8,8] call-done(%g.1.call-update)",
]
FUSED = """\
%begins (p: f32[1,8]) -> (f32[1,8], u32[]) {
  %all-gather.5 = f32[8,8] all-gather(%p), channel_id=3
}
%async_collective_fusion (p: f32[1,8], q: u32[]) -> (f32[8,8], u32[]) {
  %convolution.1 = f32[8,8] convolution(%p, %p), dim_labels=bf_io->bf
  %all-gather.6 = f32[8,8] all-gather(%p), channel_id=3
}
%ends (p: f32[1,8]) -> f32[8,8] {
  %all-gather.7 = f32[8,8] all-gather(%p), channel_id=3
}
"""
STEPS = [
    "%async-collective-start = (f32[1,8], u32[]) fusion(%p), calls=%begins",
    "%get.1 = u32[] get-tuple-element(%async-collective-start), index=1",
    "%fusion.2 = (f32[8,8], u32[]) fusion(%p, %get.1), calls=%async_collective_fusion",
    "%get.2 = u32[] get-tuple-element(%fusion.2), index=1",
    "%async-collective-done = f32[8,8] fusion(%get.2), calls=%ends",
]


def of_loop(*lines, more=""):
    """Return the text of a program with these lines in a loop."""
    return PRODUCT + more + LOOP.replace("LINES", "\n".join(f"  {x}" for x in lines))


BESIDE = "all-gather beside a product"
FORMS = {
    "one line": (of_loop(GATHER, WORK), "all-gather alone"),
    "awaited at once": (of_loop(START, DONE, WORK), "all-gather started"),
    "awaited later": (of_loop(START, WORK, DONE), BESIDE),
    "reads a product": (of_loop(WORK, START, READS, DONE), "all-gather started"),
    "a call": (of_loop(*CALL[:2], WORK, CALL[2], more=CALLED), BESIDE),
    "a call that waits": (of_loop(*CALL, WORK, more=CALLED), "all-gather started"),
    "a fusion": (of_loop(*STEPS, more=FUSED), BESIDE),
}


@pytest.mark.parametrize(("text", "found"), FORMS.values(), ids=FORMS)
def test_each_form_counts_once(text, found):
    assert beside(text) == beside(text, loops_only=True) == {found: 1}


def test_only_what_is_in_a_loop_is_counted_there():
    text = PRODUCT + LOOP.replace("LINES", f"  {WORK}")
    text = text.replace("  ROOT %while", f"  {GATHER}\n  ROOT %while")
    assert (
        beside(text) == {"all-gather alone": 1} and beside(text, loops_only=True) == {}
    )


def test_the_excerpt_has_starts_products_and_waits_in_order():
    lines = excerpt(of_loop(START, WORK, READS, DONE))
    assert [line.split(" = ")[0] for line in lines] == [
        "all-gather-start.1",
        "fusion.1",
        "all-gather-done.1",
    ]


def test_the_record_has_every_chip_and_every_way():
    kept = json.loads(program.KEPT.read_text())
    assert set(kept) == {*program.CHIPS, *program.LARGER}
    for title, (_, chips, ways) in program.SETS.items():
        for chip in chips:
            wanted = set(ways) - {*program.LEFT_OUT.get(chip, ())}
            assert set(kept[chip][title]) == wanted, (chip, title)
