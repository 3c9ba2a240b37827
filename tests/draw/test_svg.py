"""The promise of `book.draw.svg`: words, colours that are read, and the same bytes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from book.draw import svg as drawing
from tests.pictures import parse


def test_a_picture_is_announced_by_its_words():
    svg = parse(drawing.Figure("Rows < 8 & more.", "", 10, 20)._repr_html_())
    title = svg.find("title")
    assert title.text == "Rows < 8 & more."
    assert svg.get("role") == "img"
    assert svg.get("aria-labelledby") == title.get("id")


def test_pictures_of_other_things_have_other_ids():
    ids = [
        parse(drawing.Figure(*words, 10, 20)._repr_html_()).find("title").get("id")
        for words in [("One.", ""), ("Two.", ""), ("One.", "<g/>")]
    ]
    assert len(set(ids)) == 3


def test_all_lines_of_frames_are_equally_long():
    assert [drawing.wrapped(8, wide, 100) for wide in (5, 14, 30, 99, 500)] == [
        *(8, 4, 2, 1, 1)
    ]
    assert drawing.wrapped(7, 30, 100) == 1


@pytest.mark.parametrize(
    ("x", "texts"),
    [
        (np.float32(3), ["3"]),
        (np.array([True, False]), ["1", "0"]),
        (np.array([-1, 11111111]), ["\N{MINUS SIGN}1", "11111111"]),
        (np.array([1 / 3, np.inf, np.nan]), ["0.333", "inf", "nan"]),
        (np.ones((2, 1, 1), jnp.bfloat16), ["1", "1"]),
        (np.ones((1, 2, 1, 3)), ["1"] * 6),
        (np.array([1j]), None),
    ],
)
def test_every_kind_of_number_has_a_short_text(x, texts):
    assert drawing.texts_of(jnp.asarray(x)) == texts


def test_a_key_has_no_short_text():
    assert drawing.texts_of(jax.random.key(0)) is None


def luminance(hex_colour):
    """Return the relative luminance of "#rrggbb", as WCAG 2 defines it."""
    channels = [int(hex_colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


def test_every_number_stands_out_from_every_hue():
    for colour in drawing.HUES:
        lighter, darker = luminance(colour), luminance(drawing.INK)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, colour
    assert len(set(drawing.HUES)) == 8
