"""The promise of `book.draw.arrays`: what is painted is what the devices hold."""

import io
import re
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from book.draw import arrays as figures
from book.draw.arrays import shards, strip
from book.draw.svg import HUES
from tests.pictures import (
    GRID,
    LINE,
    eight,
    elements,
    labels,
    numbers,
    parse,
    place,
    sharded,
)

ALT = "Eight devices, each with its part."
ROWS = np.arange(32.0).reshape(8, 4)


def devices(x, **more):
    """Return the frames of the figure of `x`, as elements."""
    return elements(parse(shards(x, ALT, **more)._repr_html_()), "device")


def hue(frame):
    """Return the fill of the piece in a frame, and its letter."""
    (piece,), (letter,) = elements(frame, "piece"), elements(frame, "letter")
    return piece.get("fill"), letter.text


CUTS = [(LINE, ("rows",)), (LINE, (None,)), (GRID, ("batch", "model"))]
CUTS += [(GRID, ("model",)), (GRID, (None, "batch")), (GRID, (("batch", "model"),))]


@pytest.mark.parametrize(("axes", "spec"), CUTS)
def test_each_frame_shows_the_numbers_its_device_holds(axes, spec):
    x = sharded(ROWS - 16, axes, *spec)
    held = {shard.device: shard.data for shard in x.addressable_shards}
    for device, frame in zip(x.sharding.mesh.devices.flat, devices(x), strict=True):
        assert numbers(frame) == np.asarray(held[device]).ravel().tolist()


@pytest.mark.parametrize(("axes", "spec"), CUTS)
def test_same_colour_and_letter_exactly_where_the_data_is_the_same(axes, spec):
    frames = devices(sharded(ROWS, axes, *spec))
    for one in frames:
        for other in frames:
            assert (hue(one) == hue(other)) == (numbers(one) == numbers(other))


def test_the_piece_lies_where_its_data_lies_in_the_whole():
    for k, frame in enumerate(devices(sharded(ROWS, LINE, "rows"))):
        (piece,), (whole,) = elements(frame, "piece"), elements(frame, "whole")
        row = (float(piece.get("y")) - float(whole.get("y"))) / 16
        assert (row, piece.get("width")) == (k, whole.get("width"))


def test_a_mesh_of_two_axes_stands_as_a_grid():
    frames = devices(sharded(ROWS, GRID, "batch", "model"))
    assert labels(frames[6]) == ["batch 1", "model 2"]
    across, down = ([place(frame)[k] for frame in frames] for k in (0, 1))
    assert across[:4] == across[4:] == sorted(set(across))
    assert len(set(down[:4])) == len(set(down[4:])) == 1
    assert down[0] < down[4]


def test_a_mesh_of_one_axis_wraps_where_a_phone_ends():
    frames = devices(sharded(ROWS, LINE, "rows"))
    assert [labels(frame) for frame in frames] == [[f"rows {k}"] for k in range(8)]
    assert [place(frame)[1] for frame in frames].count(0.0) == 4
    vector = devices(sharded(np.arange(8.0), LINE, "rows"))
    assert {place(frame)[1] for frame in vector} == {0.0}
    assert shards(sharded(ROWS, LINE, "rows"), ALT).width <= figures.WIDTH


def test_an_array_without_a_mesh_is_one_frame():
    (frame,) = devices(jnp.arange(3))
    assert labels(frame) == ["device 0"]
    assert numbers(frame) == [0, 1, 2]


def test_the_unnamed_axis_of_pmap_is_called_device():
    y = jax.pmap(jnp.sin, devices=eight())(np.zeros(8))
    assert labels(devices(y)[7]) == ["device 7"]


def test_large_arrays_are_blocks_with_the_shape_of_the_piece():
    frames = devices(sharded(np.zeros((16, 64)), LINE, None, "rows"))
    assert not any(numbers(frame) for frame in frames)
    assert [hue(frame)[1] for frame in frames[:2]] == ["A (16, 8)", "B (16, 8)"]


def test_more_pieces_than_hues_still_have_a_letter_each():
    body = figures._paint(
        figures.Frame(["rows 34"], ((0, 1), (0, 1)), 34, ["5"]),
        (1, 1),
        (16, 16),
        40,
        40,
    )
    assert ">I\N{PRIME}</text>" in body


def test_the_alternative_text_is_there_and_escaped():
    x = sharded(ROWS, LINE, "rows")
    svg = parse(shards(x, "Rows < 8 & more.")._repr_html_())
    title = svg.find("title")
    assert title.text == "Rows < 8 & more."
    assert svg.get("role") == "img"
    assert svg.get("aria-labelledby") == title.get("id")
    assert repr(shards(x, ALT)) == ALT


@pytest.mark.parametrize("alt", ["", "  \n", None])
def test_a_figure_without_words_is_refused(alt):
    with pytest.raises(ValueError, match="needs alt"):
        shards(jnp.arange(3), alt)


def test_what_cannot_be_painted_says_so():
    with pytest.raises(TypeError, match="concrete"):
        shards(ROWS, ALT)
    with pytest.raises(TypeError, match="concrete"):
        jax.jit(lambda x: shards(x, ALT))(ROWS)
    with pytest.raises(ValueError, match="one or two axes"):
        shards(jnp.zeros((2, 2, 2)), ALT)
    with pytest.raises(ValueError, match="one or two axes"):
        shards(jnp.zeros((0, 2)), ALT)


def test_the_same_array_paints_the_same_bytes():
    one, other = (shards(sharded(ROWS, LINE, "rows"), ALT) for _ in range(2))
    assert one._repr_html_() == other._repr_html_()
    assert one._repr_html_() != shards(sharded(ROWS, LINE, None), ALT)._repr_html_()


def test_no_device_no_host_and_no_address_is_named():
    text = shards(sharded(ROWS, LINE, "rows"), ALT).standalone()
    assert not re.search(r"(?i)cpu|0x[0-9a-f]|/home|localhost", text)
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]


def test_fills_and_lines_follow_the_page():
    (frame, *_) = devices(sharded(ROWS, LINE, "rows"))
    assert hue(frame)[0] == f"var(--hue-1, {HUES[0]})"
    assert {e.get("stroke") for e in frame.iter("rect")} == {"currentColor"}


def test_a_file_stands_alone_in_light_and_dark():
    text = shards(sharded(ROWS, LINE, "rows"), ALT, title="x").standalone()
    (_, root), *_ = ElementTree.iterparse(io.StringIO(text), events=["start"])
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme:dark" in text
    assert "var(" not in text
    assert ">x</text>" in text


def test_a_strip_stacks_its_panels():
    x = sharded(ROWS, LINE, "rows")
    svg = parse(strip([("before", x), ("after", -x)], ALT)._repr_html_())
    first, second = elements(svg, "panel")
    assert [numbers(f) for f in elements(first, "device")] == ROWS.tolist()
    assert [numbers(f) for f in elements(second, "device")] == (-ROWS).tolist()
    assert place(second)[1] > shards(x, ALT).height
    wide = strip([("x", x)], ALT, width=800)
    assert {place(f)[1] for f in elements(parse(wide._repr_html_()), "device")} == {0}


def test_a_computed_array_of_a_strip_has_no_hue_and_no_letter():
    x = sharded(ROWS, LINE, "rows")
    svg = parse(
        strip([("x", x), ("x + 1", x + 1)], ALT, computed="x + 1")._repr_html_()
    )
    first, second = (elements(panel, "device") for panel in elements(svg, "panel"))
    assert len({hue(frame) for frame in first}) == 8
    assert {e.get("fill") for f in second for e in elements(f, "piece")} == {"none"}
    assert {e.get("fill") for f in second for e in elements(f, "value")} == {None}
    assert not [e for frame in second for e in elements(frame, "letter")]
    assert [numbers(f) for f in second] == [[n + 1 for n in numbers(f)] for f in first]
    large = sharded(np.ones((64, 64)), LINE, "rows")
    svg = parse(strip([("x", large)], ALT, computed=["x"])._repr_html_())
    assert {e.text for e in elements(svg, "letter")} == {"(8, 64)"}
    with pytest.raises(ValueError, match=r"computed has \['y'\]"):
        strip([("x", x)], ALT, computed="y")


def test_the_heading_of_a_narrow_panel_is_seen_whole():
    two = jax.make_mesh((2,), ("rows",), devices=eight()[:2])
    x = jax.device_put(np.arange(2.0), jax.NamedSharding(two, jax.P("rows")))
    words = "a heading wider than both of the frames"
    assert shards(x, ALT).width < 7 * len(words) < shards(x, ALT, words).width
    long = strip([(" ".join(["word"] * 30), x), ("y", x)], ALT)
    first, second = elements(parse(long._repr_html_()), "panel")
    assert long.width <= figures.WIDTH
    assert " ".join(e.text for e in first.findall("text")) == " ".join(["word"] * 30)
    lows = [float(e.get("y")) for e in first.findall("text")]
    assert len(lows) == 3 and lows == sorted(set(lows))
    assert lows[-1] < place(elements(first, "mesh")[0])[1]
    tops = [place(panel)[1] for panel in (first, second)]
    assert tops[1] - tops[0] > lows[-1] + shards(x, ALT).height


def test_the_panels_of_a_strip_have_one_scale():
    wide, tall = (
        sharded(np.ones((8, 16)), LINE, None, "rows"),
        sharded(np.ones((16, 4)), LINE),
    )
    svg = parse(strip([("a", wide), ("b", tall)], ALT)._repr_html_())
    first, second = elements(svg, "panel")
    assert not numbers(svg)  # b alone is small enough for values
    assert shards(tall, ALT).body.count('class="value"') == 8 * 64
    assert elements(first, "whole")[0].get("width") == "64"
    assert elements(second, "whole")[0].get("height") == "64"
