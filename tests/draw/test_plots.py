"""The promise of `book.draw.plots`: a point stands where its value says."""

import itertools
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from book.draw import plots
from book.draw.plots import lines
from book.draw.svg import HUES

ALT = "Both lines rise; the second one ends above the first."
TWO = {
    "vmap": [(1, 1e-6), (10, 1e-5), (100, 1e-4)],
    "a loop": [(1, 1e-5), (10, 1e-3), (100, 1e-1)],
}
AXES = {"x": "rows", "y": "a call [s]"}
THEMES = {  # text and page
    "light": ((0, 0, 0), (255, 255, 255)),
    "dark": ((0xCF, 0xD0, 0xD0), (0x13, 0x14, 0x16)),
}


def draw(series=TWO, alt=ALT, **more):
    """Return the SVG element of a plot; it has to be well-formed XML."""
    root = ElementTree.fromstring(lines(series, alt, **(AXES | more))._repr_html_())
    return root.find("svg")


def elements(root, kind):
    """Return the elements of a class, in the order in which they are painted."""
    return [e for e in root.iter() if e.get("class") == kind]


def marks(root):
    """Return the places of the marks of each line, as (x, y)."""
    return [
        [
            tuple(map(float, re.findall(r"[-.\d]+", mark.get("transform"))))
            for mark in elements(line, "mark")
        ]
        for line in elements(root, "series")
    ]


def words(root, kind):
    """Return `{text: (x, y)}` of the texts of a class."""
    return {
        e.text: (float(e.get("x")), float(e.get("y"))) for e in elements(root, kind)
    }


def test_a_point_stands_where_its_values_say():
    root = draw()
    for (_, points), places in zip(TWO.items(), marks(root), strict=True):
        for (x, y), (across, down) in zip(points, places, strict=True):
            one, hundred = (words(root, "x tick")[text][0] for text in ("1", "100"))
            assert across == pytest.approx(
                one + math.log10(x) / 2 * (hundred - one), abs=0.2
            )
            low, high = (words(root, "y tick")[text][1] for text in ("1 µs", "100 ms"))
            share = math.log10(y / 1e-6) / 5
            assert down + 3.5 == pytest.approx(low + share * (high - low), abs=0.2)


def test_lines_run_from_left_to_right_whatever_the_order_of_the_points():
    backwards = {name: points[::-1] for name, points in TWO.items()}
    assert marks(draw(backwards)) == marks(draw())


@pytest.mark.parametrize(
    ("values", "label", "texts"),
    [
        ((1e4, 3e7), "held [B]", ["10 kB", "100 kB", "1 MB", "10 MB"]),
        ((1e-6, 1e-3), "a call [s]", ["1 µs", "10 µs", "100 µs", "1 ms"]),
        ((8e-3, 30e-3), "a call [s]", ["10 ms", "20 ms"]),
        ((11e-3, 45e-3), "a call [s]", ["20 ms"]),
        ((1, 2e5), "rows", ["1", "10", "100", "1,000", "10,000", "100,000"]),
        ((0.1, 1), "ratio", ["0.1", "0.2", "0.5", "1"]),
        ((1e-15, 1e15), "ratio", None),
        ((3, 3), "rows", ["3"]),
    ],
)
def test_ticks_are_round_numbers_with_their_unit(values, label, texts):
    root = draw({"one": [(1, values[0]), (2, values[1])]}, y=label)
    found = list(words(root, "y tick"))
    assert found == (texts or found)
    assert 1 <= len(found) <= 7
    assert all(30 < y < 30 + plots.HEIGHT for _, y in words(root, "y tick").values())
    assert label.split(" [")[0] in words(root, "axis")


@pytest.mark.parametrize("last", [[1, 1, 1, 1, 1, 1], [1, 1.1, 50, 51, 52, 100]])
def test_names_do_not_overlap_and_stay_inside(last):
    series = {f"way {k}": [(1, 7), (2, end)] for k, end in enumerate(last)}
    heights = [y for _, y in words(draw(series), "name").values()]
    assert all(abs(a - b) >= 12 for a, b in itertools.combinations(heights, 2))
    assert min(heights) > 20
    assert max(heights) < min(y for _, y in words(draw(series), "x tick").values())


def test_names_stand_in_the_order_of_their_ends():
    ends = [50, 1, 52, 100, 51, 1.1]
    series = {f"way {k}": [(1, 7), (2, end)] for k, end in enumerate(ends)}
    found = words(draw(series), "name")
    up = sorted(found, key=lambda name: -found[name][1])
    assert up == sorted(series, key=lambda name: series[name][-1][1])


def test_names_that_are_not_crowded_stand_at_the_ends_of_their_lines():
    root = draw()
    for name, places in zip(TWO, marks(root), strict=True):
        assert words(root, "name")[name][1] - 3.5 == pytest.approx(places[-1][1])


def test_long_names_leave_room_for_the_lines():
    picture = lines({"a name of so many words " * 4: [(1, 1), (9, 9)]}, ALT, **AXES)
    root = ElementTree.fromstring(picture._repr_html_())
    ((first, last),) = marks(root)
    assert last[0] - first[0] > 150
    assert picture.width > last[0] + 96 * 5


def test_colour_is_not_the_only_cue():
    series = {f"way {k}": [(1, 1), (2, 2 + k)] for k in range(6)}
    found = elements(draw(series), "series")
    assert len({line.get("style") for line in found}) == 6
    assert len({elements(line, "mark")[0].get("d") for line in found}) == 6
    for line in found:
        (key,) = elements(line, "key")
        assert key.get("d") == elements(line, "mark")[0].get("d")


def luminance(colour):
    """Return the relative luminance of (red, green, blue), as WCAG 2 defines it."""
    channels = [c / 255 for c in colour]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("theme", THEMES)
def test_every_line_stands_out_from_the_page(theme):
    text, page = THEMES[theme]
    for hue in (HUES[k] for k in plots.ORDER):
        channels = [int(hue[k : k + 2], 16) for k in (1, 3, 5)]
        share = plots.MIXED / 100
        line = [
            share * c + (1 - share) * t for c, t in zip(channels, text, strict=True)
        ]
        low, high = sorted([luminance(line), luminance(page)])
        assert (high + 0.05) / (low + 0.05) >= 3, hue


def test_lines_and_words_follow_the_page():
    body = lines(TWO, ALT, **AXES).body
    assert set(re.findall(r'stroke="([^"]*)"', body)) == {"currentColor"}
    assert not re.search(r'fill="(?!none)', body)
    assert body.count("currentColor)") == 4  # the stroke and the fill of two lines


def test_the_alternative_text_is_there_and_escaped():
    root = draw({"a < b & c": [(1, 1)]}, alt="Less < 8 & more.", title="x < y")
    assert root.find("title").text == "Less < 8 & more."
    assert root.get("role") == "img"
    assert "a < b & c" in words(root, "name") and "x < y" in words(root, "title")
    assert repr(lines(TWO, ALT, **AXES)) == ALT


@pytest.mark.parametrize("alt", ["", "  \n", None])
def test_a_plot_without_words_is_refused(alt):
    with pytest.raises(ValueError, match="needs alt"):
        lines(TWO, alt, **AXES)


@pytest.mark.parametrize(
    ("series", "said"),
    [
        ({"vmap": [(1, 0)]}, "'vmap' has 0; a log axis begins above zero"),
        ({"vmap": [(-1, 1)]}, "'vmap' has -1; a log axis"),
        ({"vmap": [(1, math.nan)]}, "'vmap' has nan; a log axis"),
        ({"vmap": [(1, math.inf)]}, "'vmap' has inf; a log axis"),
        ({"vmap": []}, "the line 'vmap' has no points"),
        ({}, "6 lines can be told apart, not 0"),
        ({f"{k}": [(1, 1)] for k in range(7)}, "6 lines can be told apart, not 7"),
    ],
)
def test_what_cannot_be_drawn_says_so(series, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        lines(series, ALT, **AXES)


def test_numpy_numbers_are_numbers_and_the_same_numbers_give_the_same_bytes():
    arrays = {name: np.array(points, np.float32) for name, points in TWO.items()}
    exact = {name: [tuple(p) for p in rows] for name, rows in arrays.items()}
    one, other = (lines(exact, ALT, **AXES).body for _ in range(2))
    assert one == other
    assert np.allclose(marks(draw(exact)), marks(draw()), atol=0.02)
