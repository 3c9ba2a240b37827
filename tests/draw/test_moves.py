"""The promise of `book.draw.moves`: a number keeps its hue wherever it travels."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P, lax

from book.draw import moves
from book.draw.moves import before_after, steps
from book.draw.svg import HUES, WIDTH, fill
from tests.pictures import (
    GRID,
    LINE,
    eight,
    elements,
    labels,
    mesh_of,
    numbers,
    parse,
    place,
    sharded,
)

ALT = "Eight devices, before and after."
ONE = np.arange(1.0, 9)  # a number for each device; no sum of some is shown below
ROWS = P("rows")
RIGHT = [(k, (k + 1) % 8) for k in range(8)]


def move(collective, x, spec=ROWS):
    """Return what `collective` of the blocks of `x` leaves on each."""
    mesh, specs = x.sharding.mesh, {"in_specs": spec, "out_specs": spec}
    mapped = jax.shard_map(collective, mesh=mesh, check_vma=False, **specs)
    return jax.jit(mapped)(x)


def panels(figure):
    """Return the panels of a figure, each as its frames."""
    root = parse(figure._repr_html_())
    return [elements(panel, "device") for panel in elements(root, "panel")]


def tokens(frame):
    """Return (number, kind, fill) for each token in a frame."""
    kinds = "held", "sum", "nothing"
    rects = [e for e in frame.iter("rect") if e.get("class") in kinds]
    return [
        (number, rect.get("class"), rect.get("fill"))
        for number, rect in zip(numbers(frame), rects, strict=True)
    ]


def held(*owners_of):
    """Return the tokens of (number, place of its owner) pairs."""
    return [(number, "held", fill(owner)) for number, owner in owners_of]


def test_each_frame_shows_the_block_of_its_device():
    x = sharded(np.arange(1.0, 65), LINE, "rows")
    y = move(lambda b: lax.all_to_all(b, "rows", 0, 0, tiled=True), x)
    for array, frames in zip((x, y), panels(before_after(x, y, ALT)), strict=True):
        blocks = {shard.device: shard.data for shard in array.addressable_shards}
        for device, frame in zip(array.sharding.mesh.devices.flat, frames, strict=True):
            assert numbers(frame) == blocks[device].tolist()


def test_all_gather_brings_every_hue_to_every_device():
    x = sharded(ONE, LINE, "rows")
    y = move(lambda b: lax.all_gather(b, "rows", tiled=True), x)
    before, after = panels(before_after(x, y, ALT))
    everything = held(*zip(ONE, range(8), strict=True))
    assert [tokens(frame) for frame in before] == [[token] for token in everything]
    assert [tokens(frame) for frame in after] == [everything] * 8


def test_all_to_all_brings_one_number_of_each_hue():
    x = sharded(np.arange(1.0, 65), LINE, "rows")
    y = move(lambda b: lax.all_to_all(b, "rows", 0, 0, tiled=True), x)
    before, after = panels(before_after(x, y, ALT))
    for k in range(8):
        assert {hue for _, _, hue in tokens(before[k])} == {fill(k)}
        assert tokens(after[k]) == held(*((8 * j + k + 1, j) for j in range(8)))


def test_a_sum_has_no_hue():
    x = sharded(2.0 ** np.arange(8), LINE, "rows")
    y = move(lambda b: lax.psum(b, "rows"), x)
    _, after = panels(before_after(x, y, ALT))
    assert [tokens(frame) for frame in after] == [[(255, "sum", "none")]] * 8
    (value,) = elements(after[0], "value")
    assert value.get("font-weight") == "700"
    assert value.get("fill") is None  # the colour of the page's text


def test_a_computed_panel_has_no_hue_though_its_numbers_stand_in_the_first():
    x = sharded(np.arange(1.0, 9), LINE, "rows")
    y = x - 4  # -3 to 4: the last four are numbers of the first four devices
    plain, other = (panels(before_after(x, y, ALT, computed=c)) for c in ((), "after"))
    assert [tokens(f) for f in plain[0]] == [tokens(f) for f in other[0]]
    assert tokens(plain[1][4]) == held((1, 0))
    assert [tokens(frame) for frame in other[1]] == [
        [(number, "sum", "none")] for number in np.arange(-3.0, 5)
    ]
    assert {e.get("fill") for f in other[1] for e in elements(f, "value")} == {None}
    first, middle, last = panels(steps([("a", x), ("b", y), ("c", x)], ALT, (), ["b"]))
    assert {kind for f in middle for _, kind, _ in tokens(f)} == {"sum"}
    assert [tokens(f) for f in last] == [tokens(f) for f in first]


def test_where_nothing_came_the_zero_is_faint():
    x = sharded(ONE, LINE, "rows")
    y = move(lambda b: lax.ppermute(b, "rows", RIGHT[:-1]), x)
    _, after = panels(before_after(x, y, ALT, partial=["after"]))
    assert tokens(after[0]) == [(0, "nothing", "none")]
    assert [tokens(frame) for frame in after[1:]] == [
        [t] for t in held(*((number, k) for k, number in enumerate(ONE[:-1])))
    ]
    assert not elements(after[0], "hatch")
    faint, clear = (elements(after[k], "value")[0] for k in (0, 1))
    assert faint.get("fill-opacity") is not None
    assert clear.get("fill-opacity") is None


def test_a_zero_of_the_first_array_is_held():
    x = sharded(np.arange(8.0), LINE, "rows")
    before, _ = panels(before_after(x, -x, ALT))
    assert tokens(before[0]) == held((0, 0))


def ring_reduce_scatter(x, count):
    """Return the sum that each of four devices passes on after `count` steps."""

    def body(block):
        def chunk(step):
            at = (lax.axis_index("rows") - 1 - step) % 4
            return lax.dynamic_slice(block, (at,), (1,))

        sum_ = chunk(0)
        for step in range(1, count + 1):
            sum_ = lax.ppermute(sum_, "rows", [(k, (k + 1) % 4) for k in range(4)])
            sum_ += chunk(step)
        return sum_

    return move(body, x)


@functools.cache
def ring():
    """Return the figure of a ring reduce-scatter, in which all but the last lack terms.

    The x is 1, 10, 100, 1000, so that a sum tells who has been added.
    """
    mesh = jax.make_mesh((4,), ("rows",), devices=eight()[:4])
    terms = np.repeat(10.0 ** np.arange(4), 4)
    x = jax.device_put(terms, jax.NamedSharding(mesh, ROWS))
    states = [(f"step {k}", ring_reduce_scatter(x, k)) for k in range(4)]
    return steps([("x", x), *states], ALT, partial=["step 0", "step 1", "step 2"])


def test_a_partial_sum_shows_who_has_been_added():
    x, *states = panels(ring())
    assert [tokens(frame) for frame in x] == [held((10**k, k)) * 4 for k in range(4)]
    assert [tokens(frame) for frame in states[0]] == [
        held((10**k, k)) for k in range(4)
    ]
    sums = [1001, 11, 110, 1100], [1101, 1011, 111, 1110], [1111] * 4
    for state, expected in zip(states[1:], sums, strict=True):
        assert [tokens(frame) for frame in state] == [
            [(number, "sum", "none")] for number in expected
        ]


def test_hatching_is_where_it_was_asked_for_and_nowhere_else():
    hatched = [[len(elements(f, "hatch")) for f in frames] for frames in panels(ring())]
    assert hatched == [[0] * 4, [1] * 4, [1] * 4, [1] * 4, [0] * 4]
    one = before_after(*2 * [sharded(ONE, LINE, "rows")], ALT, partial="before")
    assert [len(elements(f[0], "hatch")) for f in panels(one)] == [1, 0]


def test_hatching_stays_inside_its_token_and_is_seen_on_every_ground():
    for frame in [frame for frames in panels(ring()) for frame in frames]:
        for hatch in elements(frame, "hatch"):
            rects = [e for e in frame.iter("rect") if e.get("class") in ("held", "sum")]
            x, y, wide, tall = (
                float(rects[0].get(k)) for k in ("x", "y", "width", "height")
            )
            ends = np.array(re.findall(r"-?[.\d]+", hatch.get("d")), float).reshape(
                -1, 2
            )
            assert len(ends) >= 4
            assert (ends >= [x - 1e-3, y - 1e-3]).all()
            assert (ends <= [x + wide + 1e-3, y + tall + 1e-3]).all()
            ground = "sum" if rects[0].get("fill") == "none" else "held"
            assert (hatch.get("stroke") == "currentColor") == (ground == "sum")


def test_replicas_of_a_piece_have_the_hue_of_the_first():
    x = sharded(np.arange(1.0, 3), GRID, "batch")
    before, _ = panels(before_after(x, -x, ALT))
    assert [tokens(frame) for frame in before] == [held((1, 0))] * 4 + [
        held((2, 4))
    ] * 4


def test_a_number_that_begins_in_two_pieces_has_no_hue_to_follow():
    x = sharded(np.array([1.0, 2, 3, 4, 5, 2, 7, 8]), LINE, "rows")
    with pytest.raises(ValueError, match=r"2 begins in two pieces .* distinct"):
        before_after(x, x, ALT)


def test_a_mesh_of_two_axes_keeps_its_grid_and_its_panels_stand_side_by_side():
    tall = [("batch", 4), ("model", 2)]
    x = sharded(ONE, tall, ("batch", "model"))
    figure = before_after(x, -x, ALT)
    for frames in panels(figure):
        assert labels(frames[5]) == ["batch 2", "model 1"]
        across, down = ([place(frame)[k] for frame in frames] for k in (0, 1))
        assert across == [*sorted(set(across))] * 4
        assert down == sorted(down) and len(set(down)) == 4
    (x0, y0), (x1, y1) = map(place, elements(parse(figure._repr_html_()), "panel"))
    assert x0 < x1 and y0 == y1
    many = steps([(f"step {k}", x + 0 * k) for k in range(4)], ALT)
    tops = [place(p)[1] for p in elements(parse(many._repr_html_()), "panel")]
    assert tops == sorted(tops) and len(set(tops)) == 2


def test_the_panels_of_a_line_stand_device_under_device():
    x = sharded(ONE, LINE, "rows")
    figure = before_after(
        x, move(lambda b: lax.all_gather(b, "rows", tiled=True), x), ALT
    )
    before, after = panels(figure)
    assert [place(f) for f in before] == [place(f) for f in after]
    assert {place(f)[1] for f in before} == {0.0}
    (x0, y0), (x1, y1) = map(place, elements(parse(figure._repr_html_()), "panel"))
    assert x0 == x1 and y0 < y1
    assert figure.width <= WIDTH


def block(*cut_as):
    """Return the (columns, rows) of the first block of an array that stays as it is."""
    x = sharded(*cut_as)
    rects = list(panels(before_after(x, x, ALT))[0][0].iter("rect"))[1:]
    return tuple(len({rect.get(k) for rect in rects}) for k in ("x", "y"))


def test_vectors_are_columns_and_lie_only_where_the_picture_gets_lower():
    grid, both = [("batch", 4), ("model", 2)], ("batch", "model")
    numbers = np.arange(1.0, 65)
    assert block(numbers, LINE, "rows") == (1, 8)
    assert block(numbers, grid, both) == (8, 1)
    assert block(numbers[:32], grid, both) == (1, 4)
    assert block(numbers.reshape(8, 8), LINE, "rows") == (8, 1)
    assert block(numbers.reshape(8, 8), LINE, None, "rows") == (1, 8)
    x, short = sharded(numbers, grid, both), sharded(numbers[:16], grid, both)
    (frame, *_) = panels(before_after(x, short, ALT))[1]
    assert len({rect.get("y") for rect in elements(frame, "held")}) == 1
    assert block(numbers[:24].reshape(8, 1, 3), LINE, "rows") == (1, 3)


def test_narrow_frames_stay_on_one_line_where_the_others_need_several():
    x = sharded(ONE, LINE, "rows")
    rows = sharded(np.tile(ONE, (8, 1)), LINE, "rows")
    before, after = panels(before_after(x, rows, ALT))
    assert len({place(frame)[1] for frame in before}) == 1
    assert len({place(frame)[1] for frame in after}) == 4


@pytest.mark.parametrize("axis", ["rows", None])
def test_no_picture_is_wider_than_a_phone_where_it_can_wrap(axis):
    x = jax.pmap(lambda v: v, axis, devices=eight())(np.arange(1.0, 65).reshape(8, 8))
    y = jax.pmap(lambda v: 100 * v.sum(), axis, devices=eight())(x)
    figure = before_after(x, y, ALT)
    assert figure.width <= moves.ROOM
    assert "min-width" not in figure._repr_html_()


@pytest.mark.parametrize("number", [8, 32, 100, 1284, 10000, 123456])
def test_a_bold_number_has_room_in_its_token(number):
    x = sharded(ONE, LINE, "rows")
    svg = parse(before_after(x, 0 * x + number, ALT, computed="after")._repr_html_())
    token = elements(elements(svg, "panel")[1], "sum")[0]
    letter = 10.1 * 0.696  # of digits in DejaVu Sans Bold, the widest of typefaces
    assert float(token.get("width")) >= letter * len(str(number)) + 1


def test_the_headings_are_the_labels():
    x = sharded(ONE, LINE, "rows")
    for figure, words in [
        (before_after(x, x, ALT), ["before", "after"]),
        (before_after(x, x, ALT, labels=("x", "a < b")), ["x", "a < b"]),
        (steps([("one", x), ("two", x), ("three", x)], ALT), ["one", "two", "three"]),
    ]:
        root = parse(figure._repr_html_())
        assert [panel.find("text").text for panel in elements(root, "panel")] == words


def test_two_figures_on_a_page_share_no_id():
    x = sharded(ONE, LINE, "rows")
    figures = [before_after(x, y, ALT, partial="after") for y in (x, -x)] + [ring()]
    ids = [re.findall(r'\bid="([^"]+)"', figure._repr_html_()) for figure in figures]
    assert all(ids)
    assert len({one for many in ids for one in many}) == sum(map(len, ids))


def test_the_same_arrays_paint_the_same_bytes():
    x = sharded(ONE, LINE, "rows")
    one, other = (before_after(x, -x, ALT)._repr_html_() for _ in range(2))
    assert one == other


def test_the_colours_are_those_of_the_page():
    text = ring()._repr_html_()
    assert set(re.findall(r'fill="(v[^"]+)"', text)) == {fill(k) for k in range(4)}
    assert HUES[0] in ring().standalone()
    assert "var(" not in ring().standalone()


def test_what_cannot_be_painted_says_so():
    x = sharded(ONE, LINE, "rows")
    with pytest.raises(ValueError, match="needs alt"):
        before_after(x, x, " ")
    with pytest.raises(TypeError, match="concrete"):
        before_after(x, ONE, ALT)
    with pytest.raises(TypeError, match="concrete"):
        jax.jit(lambda x: before_after(x, x, ALT))(x)
    with pytest.raises(TypeError, match="real numbers"):
        before_after(x, x * 1j, ALT)
    with pytest.raises(ValueError, match="two arrays or more"):
        steps([("x", x)], ALT)
    with pytest.raises(ValueError, match=r"'sum'.*'before', 'after'"):
        before_after(x, x, ALT, partial=["sum"])
    with pytest.raises(ValueError, match=r"computed has \['sum'\].*'before', 'after'"):
        before_after(x, x, ALT, computed="sum")
    with pytest.raises(ValueError, match="'before' is not computed"):
        before_after(x, x, ALT, computed=["before"])
    with pytest.raises(
        ValueError, match=r"\(9, 8\) is too large.* 64 numbers, 16 along"
    ):
        before_after(x, sharded(np.ones((72, 8)), LINE, "rows"), ALT)
    with pytest.raises(ValueError, match="too large"):
        before_after(x, sharded(np.ones(8 * 17), LINE, "rows"), ALT)
    with pytest.raises(ValueError, match="one or two axes"):
        before_after(x, sharded(np.ones((16, 2, 2)), LINE, "rows"), ALT)
    with pytest.raises(ValueError, match="one or two axes"):
        before_after(x, sharded(np.ones((8, 0)), LINE, "rows"), ALT)
    with pytest.raises(ValueError, match=r"'after' is not on the 8 .* jax\.device_put"):
        before_after(x, jnp.ones(8), ALT)


def test_another_mesh_of_the_same_devices_is_painted_on_the_first():
    x = sharded(ONE, LINE, "rows")
    y = jax.device_put(x, jax.NamedSharding(mesh_of(*GRID), P(("model", "batch"))))
    before, after = panels(before_after(x, y, ALT))
    assert [labels(frame) for frame in after] == [labels(frame) for frame in before]
    assert [numbers(frame) for frame in after] == [
        [n] for n in (1, 3, 5, 7, 2, 4, 6, 8)
    ]
