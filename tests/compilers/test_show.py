"""What compilers say stands on the page, and never as something that ran."""

import json

import pytest

from book.compilers.chips import EIGHT, H100
from book.compilers.show import count, memory, seconds, sends, size, table, tabs

PROGRAM = """
import jax
import jax.numpy as jnp
from jax import P


def lower(mesh):
    rows = jax.NamedSharding(mesh, P("rows"))
    x = jax.ShapeDtypeStruct((8, FACTOR), jnp.float32, sharding=rows)
    return jax.jit(lambda x: x.sum(axis=0)).lower(x)
"""
FOUND = {
    "available": 16_000_000_000,
    "collectives": [
        {
            "kind": "all-gather",
            "operand": 4_194_304,
            "groups": "4 x 2",
            "axes": "inner",
            "times": 3,
            "count": 2,
        }
    ],
    "overlapped": {"started": 2, "beside work": 1},
    "arguments": 2_000_000_000,
    "outputs": 500,
    "aliased": 0,
    "temporaries": 2_000_000_000,
    "code": 0,
    "flops": 17_185_112_064,
    "estimated seconds": 5.86e-05,
    "hlo": [],
}
REFUSED = {
    "available": 16_000_000_000,
    "does not fit": "RESOURCE_EXHAUSTED: E1000: Out: 36G exceeds <15G>.",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (size(16), "16 B"),
        (size(4_194_304), "4.19 MB"),
        (size(0), "0 B"),
        (seconds(5.86e-05), "58.6 µs"),
        (seconds(3.9e-09), "3.9 ns"),
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


def test_tabs_are_those_of_any_page():
    text = tabs({"a": "A", "b": "B"})
    assert text.startswith(":::::{tab-set}") and text.count("{tab-item}") == 2


def made(book, **chips_found):
    """Write what the compilers said of `examples/adds.py`."""
    part = {"made with": {"jax": "9"}, "lower": chips_found}
    text = json.dumps({"tpu": part, "gpu": part})
    book.write("examples/adds.compiled.json", text)


def test_a_page_shows_this_build_beside_what_is_kept(book):
    book.write("examples/adds.py", PROGRAM.replace("FACTOR", "4"))
    made(book, **{EIGHT[0].name: FOUND, H100.name: REFUSED})
    book.page("p", "1 + 1", prose="```{compiled} adds\n```")
    built = book.build()
    assert built.code == 0, built.said
    text = book.text("p")
    assert (
        "CPU ×8, this build" in text and "<strong>all-reduce</strong> of 16 B" in text
    )
    assert EIGHT[0].says in text and "does not fit" in text
    assert "did not run" in text and "36G exceeds &lt;15G&gt;" in text
    assert text.count('type="radio"') == 3 and text.count("<table") == 3
    assert 'href="' not in text.split("sd-tab-set")[1].split("</table>")[0]
    # Another program, another answer; the page is read again.
    book.write("examples/adds.py", PROGRAM.replace("FACTOR", "64"))
    assert book.build().code == 0
    assert "<strong>all-reduce</strong> of 256 B" in book.text("p")
    assert book.executed() == set()


def test_a_program_that_nobody_compiled_is_named_with_the_remedy(book):
    book.write("examples/adds.py", PROGRAM.replace("FACTOR", "4"))
    book.page("p", "1 + 1", prose="```{compiled} adds\n```")
    built = book.build()
    assert built.code != 0
    assert "nox -s compile compile_gpu -- adds" in built.said


def test_a_program_that_does_not_lower_is_named_with_its_page(book):
    book.write("examples/adds.py", PROGRAM.replace("FACTOR", "nothing"))
    made(book, **{EIGHT[0].name: FOUND})
    book.page("p", "1 + 1", prose="```{compiled} adds\n```")
    built = book.build()
    assert built.code != 0
    assert "what it shows does not compile: NameError" in built.said
