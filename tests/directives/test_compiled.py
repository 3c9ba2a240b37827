"""What compilers say stands on the page, and never as something that ran."""

import json

from book.compilers.chips import EIGHT, H100
from tests.compilers.said import FOUND, REFUSED

PROGRAM = """
import jax
import jax.numpy as jnp
from jax import P


def lower(mesh):
    rows = jax.NamedSharding(mesh, P("rows"))
    x = jax.ShapeDtypeStruct((8, FACTOR), jnp.float32, sharding=rows)
    return jax.jit(lambda x: x.sum(axis=0)).lower(x)
"""


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
    made(book, **{EIGHT[0].name: FOUND, H100.name: REFUSED})
    book.write("examples/sums.py", PROGRAM.replace("FACTOR", "4"))
    kept = (book.root / "examples/adds.compiled.json").read_text()
    book.write("examples/sums.compiled.json", kept)
    book.page("p", "1 + 1", prose="```{compiled} adds\n```")
    book.page("good", "1 + 1", prose="```{compiled} sums\n```")
    built = book.build()
    assert built.code != 0
    assert "p: examples/adds.py does not compile: NameError" in built.said
    assert "good" in book.record()["pages"] and "p" not in book.record()["pages"]


def test_what_is_kept_of_a_program_may_be_damaged(book):
    book.write("examples/adds.py", PROGRAM.replace("FACTOR", "4"))
    reason = "adds.compiled.json does not say what compilers make of lower"
    book.page("p", "1 + 1", prose="```{compiled} adds\n```")
    less = [dict(one) for one in FOUND["collectives"]]
    del less[0]["count"]
    one_less = {**FOUND, "collectives": less}
    for chip in ({EIGHT[0].name: one_less}, {"a chip": FOUND}, {EIGHT[0].name: []}):
        made(book, **chip)
        said = book.build().said
        assert reason in said
        assert "please report" not in said
    book.write("examples/adds.compiled.json", "{")
    built = book.build()
    assert built.code == 1
    assert reason in built.said
