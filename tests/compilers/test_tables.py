"""What compilers said is told in numbers with units, and in their own words."""

import pytest

from book.compilers.tables import count, memory, sends, size, table, tabs
from tests.compilers.said import FOUND, REFUSED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (size(16), "16 B"),
        (size(4_194_304), "4.19 MB"),
        (size(0), "0 B"),
        (count(12), "12"),
        (count(17_185_112_064), "17.2 G"),
    ],
)
def test_numbers_have_units_and_three_digits(text, expected):
    assert text == expected


def test_what_is_sent_says_how_often_how_much_and_to_whom():
    one, beside = sends(FOUND)
    assert one == "6 × **all-gather** of 4.19 MB, 4 groups of 2, over inner"
    assert beside == "2 asynchronous, 1 beside a product"
    endless = FOUND | {"collectives": [FOUND["collectives"][0] | {"times": None}]}
    assert sends(endless)[0].startswith("in a loop, each 2 × ")
    nothing = FOUND | {"collectives": [], "overlapped": {"started": 0}}
    assert sends(nothing) == ["nothing"]


def test_memory_is_a_share_of_what_the_chip_has():
    total, parts = memory(FOUND)
    assert total == "4 GB of 16 GB, 25 %"
    assert "2 GB arguments" in parts and "code" not in parts
    here = {key: value for key, value in FOUND.items() if key != "available"}
    assert memory(here)[0] == "4 GB"


def test_what_does_not_fit_says_so_with_the_compilers_own_words():
    text = table({"one": REFUSED, "two": FOUND})
    assert "**does not fit**" in text and r"Out: 36G exceeds \<15G\>." in text
    assert text.count("\n* - ") == 3


def test_an_estimate_that_leaves_out_communication_is_not_shown():
    text = table({"one": FOUND})
    assert "estimated seconds" in FOUND and "µs" not in text
    assert text.count("\n  - ") == 6  # two rows of three facts


def test_tabs_are_those_of_any_page():
    text = tabs({"a": "A", "b": "B"})
    assert text.startswith(":::::{tab-set}") and text.count("{tab-item}") == 2
