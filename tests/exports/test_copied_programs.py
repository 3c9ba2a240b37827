"""Every cell and every listing can be copied as a program that runs alone."""

import json
import re

import pytest

from book.exports.copied_programs import prints


def carried(book, page):
    """The programs that the copy buttons of a page load: which -> text."""
    script = book.html / "_static" / "programs" / f"{page}.js"
    return json.loads(script.read_text().removeprefix("var programs = ").rstrip(";\n"))


def test_the_programs_that_are_written_are_those_that_the_page_loads(book):
    book.write(
        "examples/double.py", "TWO = 2\n\n\ndef double(x):\n    return TWO * x\n"
    )
    listing = "```{literalinclude} ../examples/double.py\n:pyobject: double\n```"
    book.page(
        "copied",
        "from examples.double import double\na, b = 1, 2",
        ":tags: [remove-input]\nprint('drawn')",
        "assert double(a) < 3 and 'b&<b>'\ndouble(a)",
        prose=listing,
    )
    built = book.build()
    assert built.code == 0, built.said
    written = book.docs / "_build" / "snippets" / "copied"
    assert {p.name for p in written.iterdir()} == {
        "cell1.py",
        "cell3.py",
        "listing1.py",
    }
    programs = carried(book, "copied")
    assert programs == {p.stem: p.read_text() for p in written.iterdir()}
    named = re.findall(r'class="[^"]*runnable[^"]*" id="(\w+)"', book.text("copied"))
    assert sorted(named) == sorted(programs)
    program = (written / "cell3.py").read_text()
    assert "import" not in program
    assert "TWO = 2" in program
    exec(compile(program, "cell3", "exec"), {})


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("x = 1\nprint(x)\n", True),
        ("import jax\n\nfor x in 1, 2:\n    jax.debug.print('{}', x)\n", True),
        ("def main():\n    print(1)\n\n\nmain()\n", True),
        ("def main():\n    print(1)\n", False),
        ("x = 1\n", False),
        ("footprint = 1\n", False),
    ],
)
def test_a_program_that_prints_is_told_from_one_that_does_not(program, said):
    assert prints(program) == said


def test_a_definition_is_copied_to_be_used(book):
    book.page(
        "used", "def double(x):\n    return 2 * x", "assert double(2) == 4\ndouble(3)"
    )
    built = book.build()
    assert built.code == 0, built.said
    named = re.findall(r'class="([^"]*runnable[^"]*)" id="(\w+)"', book.text("used"))
    assert [which for classes, which in named if "silent" in classes] == ["cell1"]


def test_what_cannot_be_cut_names_page_and_cell(book):
    book.page(
        "uncut",
        "assert True",
        ":tags: [remove-input]\nhidden = 3\nprint(hidden)",
        "assert hidden == 3",
    )
    built = book.build()
    assert built.code != 0
    assert "uncut, cell 3: uses `hidden`, which no lesson of the page" in built.said


def test_what_raised_is_part_of_no_later_program(book):
    book.page(
        "later",
        "def keep(x, into):\n    into.append(x)\n    assert x < 3",
        ':raises: "AssertionError"\nkept = []\nkeep(2, kept)\nx = 3\nkeep(x, kept)',
        "assert kept[0] == 2\nx",
    )
    built = book.build()
    assert built.code == 0, built.said
    text = (book.docs / "_build" / "snippets" / "later" / "cell3.py").read_text()
    assert "keep(2, kept)" in text
    assert "keep(x, kept)" not in text
    exec(compile(text, "cell3", "exec"), {})


def test_a_program_that_is_gone_leaves_no_file(book):
    book.page("fewer", "assert 1", "assert 2")
    assert book.build().code == 0
    folder = book.docs / "_build" / "snippets" / "fewer"
    assert (folder / "cell2.py").exists()
    book.page("fewer", "assert 1")
    assert book.build().code == 0
    assert [p.name for p in folder.iterdir()] == ["cell1.py"]
    assert set(carried(book, "fewer")) == {"cell1"}
    book.page("fewer", ":tags: [remove-input]\n1")
    assert book.build().code == 0
    assert not (book.html / "_static" / "programs" / "fewer.js").exists()
