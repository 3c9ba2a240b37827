"""The promise of `book.draw.messages`: an arrow is a send, a hue is where it began."""

import re
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P, lax

from book.draw import messages
from book.draw.svg import WIDTH, fill
from tests.devices import eight
from tests.pictures import LINE, elements, labels, numbers, parse, place, sharded

ALT = "Eight devices; each sends its number to the next."
ONE = np.arange(1.0, 9)
RING = [(k, (k + 1) % 8) for k in range(8)]
EVERYONE = [(a, b) for a in range(8) for b in range(8) if a != b]


def line(*values):
    """Return an array with a number, or a row of numbers, on each of eight devices."""
    return sharded(np.array(values, float), LINE, "rows")


def rows(figure):
    """Return the rows of a figure, each as the SVG group that holds it."""
    return elements(parse(figure._repr_html_()), "row")


def hues(row):
    """Return (number, fill) of each token, device by device."""
    kinds = "held", "sum", "nothing"
    found = []
    for frame in elements(row, "device"):
        fills = [e.get("fill") for e in frame.iter("rect") if e.get("class") in kinds]
        found.append(list(zip(numbers(frame), fills, strict=True)))
    return found


def kinds(row):
    """Return the class of the first token on each device."""
    return [
        frame.findall(".//rect")[1].get("class") for frame in elements(row, "device")
    ]


def path(element):
    """Return the points of a path of straight lines, part after part."""
    return [
        np.array(re.findall(r"-?[.\d]+", part), float).reshape(-1, 2)
        for part in element.get("d").split("M")[1:]
    ]


def sends(row):
    """Return the (from, to) that the arrows of a row show, by the columns they meet."""
    frames = elements(row, "device")
    lefts = np.array([place(frame)[0] for frame in frames])
    wide = float(frames[0].find(".//rect").get("width"))
    shown = []
    for arrow in elements(row, "send"):
        shaft, head = arrow.findall("path")
        ends = path(shaft)[0][0][0], float(head.get("d").split()[0][1:])
        shown.append(
            tuple(
                int(np.flatnonzero((lefts < x) & (x < lefts + wide))[0]) for x in ends
            )
        )
    return shown


def ring():
    """Return the figure of two hops around the ring of eight devices."""
    x = line(*ONE)
    y, z = line(*np.roll(ONE, 1)), line(*np.roll(ONE, 2))
    return messages([("x", x), ("1 hop", y, RING), ("2 hops", z, RING)], ALT)


def test_each_device_is_a_column_and_each_array_a_row_below_the_last():
    frames = [elements(row, "device") for row in rows(ring())]
    across = [[place(f)[0] for f in row] for row in frames]
    down = [{place(f)[1] for f in row} for row in frames]
    assert across[0] == across[1] == across[2] == sorted(set(across[0]))
    assert [len(tops) for tops in down] == [1, 1, 1]
    assert sorted(map(min, down)) == list(map(min, down))
    assert [labels(f) for f in frames[0]] == [[f"rows {k}"] for k in range(8)]
    assert [[numbers(f) for f in row] for row in frames] == [
        [[n] for n in np.roll(ONE, hops)] for hops in range(3)
    ]


def test_the_headings_are_the_labels_above_their_rows():
    for row, words in zip(rows(ring()), ["x", "1 hop", "2 hops"], strict=True):
        heading = row.find("text")
        assert heading.text == words
        assert float(heading.get("y")) < place(elements(row, "device")[0])[1]


def test_an_arrow_leads_from_its_sender_to_its_receiver():
    first, *later = rows(ring())
    assert sends(first) == []
    assert [sends(row) for row in later] == [RING, RING]
    odd = [(7, 0), (0, 5), (3, 3), (0, 2)]
    figure = messages([("x", line(*ONE)), ("y", line(*ONE), odd)], ALT)
    assert sends(rows(figure)[1]) == odd


def test_all_is_an_arrow_from_every_device_to_every_other():
    x = line(*ONE)
    y = sharded(np.tile(ONE, 8), LINE, "rows")
    _, row = rows(messages([("x", x), ("gathered", y, "all")], ALT))
    assert sends(row) == EVERYONE
    assert hues(row) == [[(n, fill(k)) for k, n in enumerate(ONE)]] * 8


def test_a_row_without_sends_has_no_arrows():
    x = line(*ONE)
    _, row = rows(messages([("x", x), ("2x", 2 * x)], ALT))
    assert sends(row) == []


@pytest.mark.parametrize(
    ("words", "long", "whole"),  # as long as DejaVu Sans has them
    [
        ("out_sharding=P(): added, for everybody", 270, 2),
        ("all_gather: all of w, for this moment", 241, 3),
    ],
)
def test_arrows_are_broken_where_words_stand_and_whole_elsewhere(words, long, whole):
    x = line(*ONE)
    labeled = [(a, b, f"{a + 1}") for a, b in RING]
    _, row = rows(messages([("x", x), (words, x, labeled)], ALT))
    heading, said = row.find("text"), elements(row, "said")
    assert sorted(e.text for e in said) == [f"{k}" for k in range(1, 9)]
    spots = [(float(e.get("x")), float(e.get("y")) - 3.6) for e in said]
    apart = [
        (abs(x0 - x1), abs(y0 - y1))
        for k, (x0, y0) in enumerate(spots)
        for x1, y1 in spots[:k]
    ]
    assert all(x >= 9 or y >= 12 for x, y in apart)
    level = float(heading.get("y")) - 4
    spots += [(x, level) for x in range(0, long, 4)]
    for arrow in elements(row, "send"):
        for part in path(arrow.find("path")):
            for (x0, y0), (x1, y1) in pairwise(part):
                for t in np.linspace(0, 1, 60):
                    at = np.array([x0 + t * (x1 - x0), y0 + t * (y1 - y0)])
                    assert min(np.hypot(*(at - spot)) for spot in spots) > 3
    beside = [
        p[0]
        for arrow in elements(row, "send")
        for part in path(arrow.find("path"))
        for p, q in pairwise(part)
        if p[0] == q[0] and p[1] < level - 9 and level + 9 < q[1]
    ]
    assert len(beside) == whole and min(beside) > long


def test_the_words_of_two_arrows_that_cross_do_not_overlap():
    x, both = line(*ONE), [(0, 1, "number 1"), (1, 0, "number 2")]
    _, row = rows(messages([("x", x), ("y", x, both)], ALT))
    places = [(float(e.get("x")), float(e.get("y"))) for e in elements(row, "said")]
    (x0, y0), (x1, y1) = places
    assert abs(x0 - x1) >= 45 or abs(y0 - y1) >= 12


def test_two_rings_in_opposite_directions_share_no_line():
    x, back = line(*ONE), [(b, a) for a, b in RING]
    _, row = rows(messages([("x", x), ("", x, RING + back)], ALT))
    upright = [
        (p[0], *sorted((p[1], q[1])))
        for arrow in elements(row, "send")
        for part in path(arrow.find("path"))
        for p, q in pairwise(part)
        if p[0] == q[0]
    ]
    for k, (x0, top, bottom) in enumerate(upright):
        for x1, other_top, other_bottom in upright[:k]:
            assert x0 != x1 or bottom <= other_top or other_bottom <= top
    assert sorted(sends(row)) == sorted(RING + back)


def test_what_goes_around_the_end_runs_level_and_the_rest_straight():
    _, row, _ = rows(ring())
    *straight, around = elements(row, "send")
    level = path(around.find("path"))[0]
    assert level[1][1] == level[2][1] and level[2][0] < level[1][0]
    for arrow in straight:
        (x0, y0), (x1, y1) = path(arrow.find("path"))[0][:2]
        assert x0 < x1 and y0 < y1
    _, row = rows(messages([("x", line(*ONE)), ("y", line(*ONE), EVERYONE)], ALT))
    for arrow in elements(row, "send"):
        (x0, y0), (x1, y1) = path(arrow.find("path"))[0][:2]
        assert y0 < y1 and x0 != x1


def test_a_number_has_the_hue_of_the_device_that_it_began_on():
    for hops, row in enumerate(rows(ring())):
        assert hues(row) == [[(ONE[k - hops], fill((k - hops) % 8))] for k in range(8)]


def test_an_equal_number_that_no_send_brought_has_no_hue():
    x, shifted = line(*ONE), line(*np.roll(ONE, 2))
    _, row = rows(messages([("x", x), ("y", shifted, RING)], ALT))
    assert hues(row) == [[(n, "none")] for n in np.roll(ONE, 2)]
    _, row = rows(messages([("x", x), ("y", shifted)], ALT))
    assert hues(row) == [[(n, "none")] for n in np.roll(ONE, 2)]
    _, row = rows(messages([("x", x), ("y", line(*ONE), RING)], ALT))
    assert hues(row) == [[(n, fill(k))] for k, n in enumerate(ONE)]


def test_a_hue_that_a_step_has_lost_does_not_come_back():
    x = line(*ONE)
    steps = [("x", x), ("lost", x + 8, RING), ("again", x, RING)]
    *_, row = rows(messages(steps, ALT))
    assert hues(row) == [[(n, "none")] for n in ONE]


def test_a_computed_row_has_no_hue_though_its_numbers_came():
    x = line(*ONE)
    y = line(*np.roll(ONE, 1))
    for computed in ("y", ["y"]):
        items = [("x", x), ("y", y, RING), ("z", y)]
        _, row, after = rows(messages(items, ALT, computed=computed))
        assert hues(row) == hues(after) == [[(n, "none")] for n in np.roll(ONE, 1)]
        assert kinds(row) == ["sum"] * 8
    zeros = messages([("x", x), ("y", 0 * x)], ALT)
    assert kinds(rows(zeros)[1]) == ["nothing"] * 8
    zeros = messages([("x", x), ("y", 0 * x)], ALT, computed="y")
    assert kinds(rows(zeros)[1]) == ["sum"] * 8


def test_equal_numbers_of_two_devices_have_their_own_hues_until_they_meet():
    x = line(5, 2, 3, 4, 5, 6, 7, 8)
    y = line(8, 5, 2, 3, 4, 5, 6, 7)
    first, row = rows(messages([("x", x), ("y", y, RING)], ALT))
    assert [hues(first)[k] for k in (0, 4)] == [[(5, fill(0))], [(5, fill(4))]]
    assert [hues(row)[k] for k in (1, 5)] == [[(5, fill(0))], [(5, fill(4))]]
    gathered = sharded(np.tile(np.array(x), 8), LINE, "rows")
    with pytest.raises(ValueError, match=r"5 on rows 0 in 'y'.*rows 0 and rows 4"):
        messages([("x", x), ("y", gathered, "all")], ALT)
    assert messages([("x", x), ("y", gathered, "all")], ALT, computed=["y"])


def test_replicas_of_a_piece_have_the_hue_of_the_first():
    grid = [("batch", 2), ("model", 4)]
    x = sharded(np.array([1.0, 2]), grid, "batch")
    y = sharded(np.array([1.0, 2, 1, 2]), grid, None)
    pairs = [(a, (a + 4) % 8) for a in range(8)]
    first, row = rows(messages([("x", x), ("y", y, pairs)], ALT))
    assert hues(first) == [[(1, fill(0))]] * 4 + [[(2, fill(4))]] * 4
    assert hues(row) == [[(1, fill(0)), (2, fill(4))] * 2] * 8


def test_a_mesh_of_two_axes_is_a_line_of_devices_with_two_labels():
    x = sharded(ONE.reshape(2, 4), [("batch", 2), ("model", 4)], "batch", "model")
    first, row = rows(messages([("x", x), ("y", x, [(1, 6)])], ALT))
    frames = elements(first, "device")
    assert labels(frames[6]) == ["batch 1", "model 2"]
    assert len({place(f)[0] for f in frames}) == 8
    assert sends(row) == [(1, 6)]


def test_blocks_lie_where_they_have_room_and_stand_elsewhere():
    def block(x):
        first, _ = rows(messages([("x", x), ("y", x)], ALT))
        rects = elements(first, "device")[0].findall(".//g/rect")
        return tuple(len({rect.get(k) for rect in rects}) for k in ("x", "y"))

    assert block(sharded(np.arange(16.0) % 8, LINE, "rows")) == (2, 1)
    assert block(sharded(np.arange(32.0), LINE, "rows")) == (1, 4)
    assert block(sharded(np.arange(32.0).reshape(16, 2), LINE, "rows")) == (2, 2)
    mesh = jax.make_mesh((4,), ("rows",), devices=eight()[:4])
    four = jax.device_put(np.arange(16.0), jax.NamedSharding(mesh, P("rows")))
    assert block(four) == (4, 1)


@pytest.mark.parametrize("axis", ["rows", "device", "model"])
def test_eight_columns_of_three_digits_need_no_scrolling(axis):
    x = sharded(100 + ONE, [(axis, 8)], axis)
    figure = messages([("x", x), ("a" * 20 + " b" * 30, 2 * x, RING)], ALT)
    assert figure.width <= 1.05 * WIDTH
    assert "min-width" not in figure._repr_html_()
    assert len(rows(figure)[1].findall("text")) == 2


def test_the_numbers_of_real_collectives_keep_their_hues():
    x = line(*ONE)
    mesh = x.sharding.mesh

    def hop(block):
        return lax.ppermute(block, "rows", RING)

    y = jax.shard_map(hop, mesh=mesh, in_specs=P("rows"), out_specs=P("rows"))(x)
    _, row = rows(messages([("x", x), ("y", y, RING)], ALT))
    assert hues(row) == [[(ONE[k - 1], fill((k - 1) % 8))] for k in range(8)]


def test_the_same_arrays_paint_the_same_bytes_and_figures_share_no_id():
    assert ring()._repr_html_() == ring()._repr_html_()
    other = messages([("x", line(*ONE)), ("y", line(*ONE), "all")], ALT)
    ids = [re.findall(r'\bid="([^"]+)"', f._repr_html_()) for f in (ring(), other)]
    assert all(ids) and not set(ids[0]) & set(ids[1])
    assert "url(#" not in ring()._repr_html_() + other._repr_html_()


def test_the_colours_are_those_of_the_page():
    fills = set(re.findall(r'fill="([^"]+)"', ring()._repr_html_()))
    assert {f for f in fills if f.startswith("var")} == {fill(k) for k in range(8)}
    assert set(re.findall(r'stroke="([^"]+)"', ring()._repr_html_())) == {
        "currentColor"
    }
    assert "var(" not in ring().standalone()
    assert ALT in repr(ring())


def examples(*items, alt="Four examples of a batch.", **keywords):
    """Return the rows of a figure whose columns are the examples of a batch."""
    return rows(messages(items, alt, columns="example", **keywords))


FOUR = np.array([[1.0, 5], [2, 6], [3, 7], [4, 8]])


def test_examples_are_columns_and_the_first_axis_counts_them():
    first, row = examples(("x", FOUR), ("2x", 2 * FOUR))
    frames = elements(first, "device")
    assert [labels(frame) for frame in frames] == [[f"example {k}"] for k in range(4)]
    assert [labels(frame) for frame in elements(row, "device")] == [[]] * 4
    assert [numbers(frame) for frame in frames] == FOUR.tolist()
    assert [numbers(f) for f in elements(row, "device")] == (2 * FOUR).tolist()
    lefts = [place(frame)[0] for frame in frames]
    assert lefts == sorted(set(lefts)) and len({place(f)[1] for f in frames}) == 1


def test_a_number_has_the_hue_of_the_example_that_it_began_in():
    mean = np.full((4, 1), 4.5)
    ring = [(k, (k + 1) % 4) for k in range(4)]
    items = ("x", FOUR), ("hop", np.roll(FOUR, 1, 0), ring), ("mean", mean, "all")
    first, hop, last = examples(*items)
    assert hues(first) == [[(n, fill(k)) for n in FOUR[k]] for k in range(4)]
    assert hues(hop) == [
        [(n, fill((k - 1) % 4)) for n in FOUR[k - 1]] for k in range(4)
    ]
    assert hues(last) == [[(4.5, "none")]] * 4
    assert [sends(row) for row in (first, hop)] == [[], ring]
    assert sends(last) == [(a, b) for a in range(4) for b in range(4) if a != b]
    _, row = examples(("x", FOUR), ("y", np.roll(FOUR, 1, 0)))
    assert hues(row) == [[(n, "none") for n in FOUR[k - 1]] for k in range(4)]


def test_examples_that_hold_equal_numbers_each_have_their_own_hue():
    x = np.array([[1.0, 3], [2, 4], [3, 5], [4, 6]])
    first, row = examples(("x", x), ("x again", x))
    assert hues(first) == hues(row) == [[(n, fill(k)) for n in x[k]] for k in range(4)]
    tiled = np.tile([1.0, 10, 100], (4, 1))
    first, row = examples(("w", tiled), ("w again", tiled))
    assert hues(row) == [[(n, fill(k)) for n in tiled[k]] for k in range(4)]
    with pytest.raises(ValueError, match=r"3 on example 0 in 'y'.*0 and example 2"):
        examples(("x", x), ("y", np.tile(x.ravel(), (4, 1)), "all"))


def test_what_all_examples_share_has_no_hue_where_it_is_new_or_computed():
    tiled = np.tile([1.0, 10, 100], (4, 1))
    _, new, last = examples(("x", FOUR + 200), ("w", tiled), ("w again", tiled))
    assert hues(new) == hues(last) == [[(n, "none") for n in (1, 10, 100)]] * 4
    _, named = examples(("x", FOUR), ("w", tiled), computed="w")
    assert hues(named) == [[(n, "none") for n in (1, 10, 100)]] * 4
    assert kinds(named) == ["sum"] * 4


@pytest.mark.parametrize(
    ("shape", "across", "down"),
    [
        ((4,), 1, 1),
        ((4, 4), 4, 1),
        ((4, 16), 1, 16),
        ((4, 2, 3), 3, 2),
        ((4, 1, 5), 5, 1),
    ],
)
def test_the_block_of_an_example_is_what_else_the_array_has(shape, across, down):
    x = np.arange(float(np.prod(shape))).reshape(shape) % 10
    first, _ = examples(("x", x), ("y", x))
    for frame, block in zip(elements(first, "device"), x, strict=True):
        rects = frame.findall(".//g/rect")
        assert len({rect.get("x") for rect in rects}) == across
        assert len({rect.get("y") for rect in rects}) == down
        assert numbers(frame) == block.ravel().tolist()


@pytest.mark.parametrize("kind", [bool, int, np.float32, jnp.bfloat16])
def test_examples_may_be_arrays_of_numpy_or_of_one_device(kind):
    values = FOUR.astype(kind)
    host, one = (examples(("x", x), ("y", x)) for x in (values, jnp.asarray(values)))
    for ours, theirs in zip(host, one, strict=True):
        assert hues(ours) == hues(theirs)
        assert [[n for n, _ in frame] for frame in hues(ours)] == values.tolist()


def test_what_are_no_examples_says_so():
    with pytest.raises(ValueError, match="'device' or 'example', not 'call'"):
        messages([("x", FOUR), ("y", FOUR)], ALT, columns="call")
    with pytest.raises(ValueError, match="'y' has 3 examples, but 'x' has 4"):
        examples(("x", FOUR), ("y", FOUR[:3]))
    with pytest.raises(ValueError, match="'y' has 5 examples, but 'x' has 4"):
        examples(("x", FOUR), ("y", np.ones(5)))
    with pytest.raises(ValueError, match=r"'x' has the shape \(17,\).* 1 to 16"):
        examples(("x", np.ones(17)), ("y", np.ones(17)))
    with pytest.raises(
        ValueError, match=r"'y' has the shape \(\).*counts the examples"
    ):
        examples(("x", FOUR), ("y", np.float32(1)[...]))
    with pytest.raises(ValueError, match=r"'y' has the shape \(0,\)"):
        examples(("x", FOUR), ("y", np.ones(0)))
    with pytest.raises(ValueError, match="'y' is on several devices"):
        examples(("x", np.ones(8)), ("y", line(*ONE)))
    with pytest.raises(ValueError, match="two arrays or more"):
        examples(("x", FOUR))
    with pytest.raises(ValueError, match=r"'y' has a send \(3, 4\).* 0 to 3"):
        examples(("x", FOUR), ("y", FOUR, [(3, 4)]))
    with pytest.raises(ValueError, match="before the first row, 'x'"):
        examples(("x", FOUR, "all"), ("y", FOUR))
    with pytest.raises(ValueError, match="needs alt"):
        examples(("x", FOUR), ("y", FOUR), alt="")
    with pytest.raises(ValueError, match="too large to paint; the most is 16"):
        examples(("x", np.ones((4, 17))), ("y", FOUR))
    with pytest.raises(ValueError, match="one or two axes"):
        examples(("x", np.ones((4, 2, 2, 2))), ("y", FOUR))
    with pytest.raises(ValueError, match="one or two axes"):
        examples(("x", np.ones((4, 0))), ("y", FOUR))
    with pytest.raises(TypeError, match="real numbers"):
        examples(("x", FOUR * 1j), ("y", FOUR))
    with pytest.raises(TypeError, match="concrete"):
        examples(("x", FOUR.tolist()), ("y", FOUR))
    with pytest.raises(TypeError, match="concrete"):
        jax.jit(lambda x: examples(("x", x), ("y", x)))(FOUR)


def test_what_cannot_be_painted_says_so():
    x = line(*ONE)

    def paint(*later, alt=ALT, **keywords):
        return messages([("x", x), *later], alt, **keywords)

    with pytest.raises(ValueError, match="needs alt"):
        paint(("y", x), alt=" ")
    with pytest.raises(ValueError, match="two arrays or more"):
        paint()
    with pytest.raises(ValueError, match="before the first row, 'w'"):
        messages([("w", x, RING), ("x", x)], ALT)
    with pytest.raises(ValueError, match=r"'y' has a send \(7, 8\).* 0 to 7"):
        paint(("y", x, [(7, 8)]))
    with pytest.raises(ValueError, match=r"send \(-1, 0\)"):
        paint(("y", x, [(-1, 0)]))
    with pytest.raises(ValueError, match=r"twice: \[\(0, 1\)\]"):
        paint(("y", x, [(0, 1), (1, 2), (0, 1, "again")]))
    with pytest.raises(ValueError, match=r"'all', not 'ring'"):
        paint(("y", x, "ring"))
    with pytest.raises(ValueError, match=r"computed has \['z'\].*'x', 'y'"):
        paint(("y", x), computed="z")
    with pytest.raises(ValueError, match="'x' is not computed"):
        paint(("y", x), computed="x")
    with pytest.raises(ValueError, match=r"too large to paint; the most is 16"):
        paint(("y", sharded(np.ones((8, 17)), LINE, "rows")))
    with pytest.raises(ValueError, match=r"too large to paint; the most is 16"):
        paint(("y", sharded(np.ones((48, 3)), LINE, "rows")))
    with pytest.raises(ValueError, match="'y' is not on the 8 devices"):
        paint(("y", jnp.ones(8)))
    with pytest.raises(TypeError, match="concrete"):
        paint(("y", ONE))
    with pytest.raises(TypeError, match="concrete"):
        jax.jit(lambda x: paint(("y", x)))(x)
    with pytest.raises(TypeError, match="real numbers"):
        paint(("y", x * 1j))
