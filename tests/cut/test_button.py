"""Every cell and every listing can be copied as a program that runs alone."""

import json
import re


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


def test_what_cannot_be_cut_names_page_and_cell(book):
    book.page(
        "uncut",
        "assert True",
        ":tags: [remove-input]\nhidden = 3\nprint(hidden)",
        "assert hidden == 3",
    )
    built = book.build()
    assert built.code != 0
    assert "uncut, cell 3: uses `hidden`, which a removed cell (cell 2)" in built.said


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
