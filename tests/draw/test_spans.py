"""The promise of `book.draw.spans`: a bar begins and ends where its times say."""

from xml.etree import ElementTree

import pytest

from book.draw import spans

ALT = "The host loads; then both devices compute."
TRACE = {
    "host": [("load", 100, 120), ("train", 120, 160)],
    "device 0": [("a <long> product of two matrices", 125, 126)],
    "device 1": [("train", 130, 160)],
}


def elements(kind, rows=TRACE, alt=ALT):
    """Return the elements of a class, and the picture's; it is well-formed XML."""
    root = ElementTree.fromstring(spans(rows, "time [ms]", alt)._repr_html_())
    return [e for e in root.iter() if e.get("class") == kind], root


def number(element, name):
    return float(element.get(name))


def test_bars_are_as_long_as_their_events_on_one_axis_for_all_rows():
    bars, _ = elements("bar")
    events = [event for row in TRACE.values() for event in row]
    left, step = number(bars[0], "x"), number(bars[0], "width") / 20
    for bar, (_, start, stop) in zip(bars, events, strict=True):
        assert number(bar, "x") == pytest.approx(left + (start - 100) * step, abs=0.1)
        assert number(bar, "width") == pytest.approx((stop - start) * step, rel=1e-3)
    heights = [number(bar, "y") for bar in bars]
    assert heights[0] == heights[1] < heights[2] < heights[3]


def test_the_axis_says_where_a_time_is():
    (ticks, _), (bars, _) = elements("tick"), elements("bar")
    at = {tick.text: number(tick, "x") for tick in ticks}
    assert at["0"] == number(bars[0], "x")
    assert at["20"] == pytest.approx(number(bars[1], "x"), abs=0.1)


def test_the_last_number_of_the_axis_is_not_lost_to_rounding():
    ticks, _ = elements("tick", {"host": [("load", 0, 0.3)]})
    assert ticks[-1].text == "0.3"  # 0.3 / 0.05 is a little less than 6


def test_equal_names_have_equal_hues_and_each_has_its_key():
    (bars, _), (keys, _), (names, _) = map(elements, ("bar", "key", "name"))
    hues = dict(
        zip([n.text for n in names], [k.get("fill") for k in keys], strict=True)
    )
    assert bars[1].get("fill") == bars[3].get("fill") == hues["train"]
    assert len(set(hues.values())) == len(hues) == 3


def test_a_name_is_written_where_it_fits_and_is_always_a_title():
    _, root = elements("bar")
    written = [e.text for e in root.iter() if e.tag == "text" and not e.get("class")]
    titles = [e.text for e in root.iter() if e.tag == "title"]
    long = "a <long> product of two matrices"
    assert "load" in written and long not in written and long in titles


@pytest.mark.parametrize(
    ("rows", "alt", "why"),
    [
        (TRACE, " ", "needs alt"),
        ({"host": []}, ALT, "not 0"),
        ({"host": [("load", 2, 1)]}, ALT, "'load' ends at 1"),
        ({"host": [(str(k), k, k + 1) for k in range(9)]}, ALT, "not 9"),
    ],
)
def test_what_says_nothing_or_cannot_be_drawn_is_refused(rows, alt, why):
    with pytest.raises(ValueError, match=why):
        elements("bar", rows, alt)
