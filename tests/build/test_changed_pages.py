"""Sphinx reads again what has changed, whatever the times of files say."""

import os
import re

import pytest


def test_prose_is_published_whatever_its_time_says(book):
    path = book.page("timed", "assert True", prose="The first version.")
    words = book.write("docs/words.md", "# Words\n\nThe first words.\n")
    book.index("timed", "words")
    assert book.build().code == 0
    for file in (path, words):
        time = file.stat()
        file.write_text(file.read_text().replace("first", "second"))
        os.utime(file, ns=(time.st_atime_ns, time.st_mtime_ns - 10**10))
    assert book.build().code == 0
    assert "The second version." in book.text("timed")
    assert "The second words." in book.text("words")
    assert book.executed() == set()


def written_before(path, text, seconds=10):
    """Write a file that is older than it was, or as old, as one from an archive is."""
    time = path.stat().st_mtime_ns - seconds * 10**9
    path.write_text(text)
    os.utime(path, ns=(time, time))


SHOWING = """```{include} outer.txt
```

![A picture](pic.svg)

{glue}`lends.md::value`
"""
LENDS = 'from myst_nb import glue\n\nglue("value", {})'
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"><title>{}</title></svg>'
TEMPLATE = '{{% extends "!layout.html" %}}{{% block footer %}}{}{{% endblock %}}'


def test_a_page_follows_what_it_includes_and_shows_of_others(book):
    conf = book.docs / "conf.py"
    conf.write_text(conf.read_text() + '\ntemplates_path.insert(0, "_templates")\n')
    book.write("docs/outer.txt", "Outer.\n\n```{include} inner.txt\n```\n")
    files = {
        "docs/inner.txt": "The {} inner words.\n",
        "docs/pic.svg": PICTURE,
        "docs/_templates/layout.html": TEMPLATE,
    }
    for name, text in files.items():
        book.write(name, text.format("first"))
    book.page("lends", LENDS.format(42))
    book.write("docs/shows.md", f"# Shows\n\n{SHOWING}")
    book.index("lends", "shows")
    built = book.build()
    assert built.code == 0, built.said
    for word, seconds in (("other", 0), ("third", 10)):
        for name, text in files.items():
            written_before(book.root / name, text.format(word), seconds)
        if word == "third":
            book.page("lends", LENDS.format(43))
        built = book.build()
        assert built.code == 0, built.said
        shown = book.text("shows")
        assert f"The {word} inner" in shown
        assert word in (book.html / "_images" / "pic.svg").read_text()
        assert word in book.text("index") and "first" not in shown
        assert f"The {word} inner words." in (book.html / "shows.md").read_text()
    assert "43" in shown
    written_before(book.docs / "inner.txt", "The fourth inner words.")
    assert book.build().code == 0
    assert "The fourth inner" in book.text("shows") and "43" in book.text("shows")
    lent = book.docs / "_build" / "jupyter_execute" / "lends.glue.json"
    for damaged in (b"", b"[]", lent.read_bytes()[:30], b"\xff\x00"):
        lent.write_bytes(damaged)
        built = book.build()
        assert built.code == 0, built.said
        assert "43" in book.text("shows")
    book.page("lends", "x = 1\nassert x")
    for _ in range(2):
        built = book.build()
        assert built.code == 1, built.said
        assert re.search("shows.md.*'value' not found", built.said), built.said


SAVES = """
def setup(app):
    from pathlib import Path
    def save(*_):
        folder = Path(app.confdir)
        if (folder / "save").exists():
            (folder / "save").unlink()
            text = (folder / "two.md").read_text()
            (folder / "two.md").write_text(text.replace("First", "Second"))
            (folder / "leaves.md").unlink(missing_ok=True)
        return []
    app.connect({!r}, save, priority={})
"""


@pytest.mark.parametrize(
    ("when", "priority"), [("env-get-outdated", 900), ("env-updated", 900)]
)
def test_a_page_that_is_saved_while_it_is_built_fails_once(book, when, priority):
    conf = book.docs / "conf.py"
    conf.write_text(conf.read_text() + SAVES.format(when, priority))
    book.page("two", "assert True", prose="First.")
    book.write("docs/leaves.md", "# Leaves\n\nText.\n")
    book.index("two", "leaves")
    book.write("docs/save", "")
    built = book.build("-j", "2")
    assert built.code == 1, built.said
    assert re.search("two.md.*was saved while the book was built", built.said)
    assert re.search("leaves.md.*was removed while the book was built", built.said)
    assert "Traceback" not in built.said
    assert "First." in book.text("two") and "could not be read" not in built.said
    book.index("two")
    built = book.build("-j", "2")
    assert built.code == 0, built.said
    assert "Second." in book.text("two")


def test_a_page_that_cannot_be_opened_keeps_its_outputs_and_stops_no_other(book):
    book.page("known", "assert True", prose="Known.")
    book.page("other", "assert True")
    assert book.build().code == 0
    whole = (book.docs / "known.md").read_text()
    (book.docs / "known.md").write_bytes(whole.encode() + b"\xe9")
    for jobs in ("2", "1"):
        built = book.build("-j", jobs)
        assert built.code == 1, built.said
        assert "known.md:23: WARNING: known: is not UTF-8" in built.said, built.said
        assert "Traceback" not in built.said
    (book.docs / "known.md").write_text(whole)
    assert book.build("-j", "2").code == 0
    assert "Known." in book.text("known") and book.executed() == set()
    (book.docs / "index.md").write_bytes(b"\xe9")
    built = book.build()
    assert built.code == 1 and "Traceback" not in built.said
    assert "index: is not UTF-8" in built.said
    assert "first page of the book cannot be read" in built.said


NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}'


def test_a_page_in_a_format_that_never_runs_is_refused(book):
    book.write("docs/a/nb.ipynb", NOTEBOOK)
    book.write("docs/old.rst", "Old\n===\n\n.. code-cell::\n\n   assert False\n")
    book.write("docs/fine.md", "# Fine\n\nText.\n")
    book.index("fine")
    for _ in range(2):
        built = book.build()
        assert built.code == 1, built.said
        assert re.search("a/nb.ipynb.* a/nb.ipynb would be shown as it is", built.said)
        assert re.search("docs/old.rst.*old.rst would be shown as it is", built.said)
        made = {path.stem for path in book.html.rglob("*.html")}
        assert not made & {"nb", "old"}
    (book.docs / "old.rst").unlink()
    (book.docs / "a" / "nb.ipynb").unlink()
    assert book.build().code == 0


EXERCISE = '''"""Double a number."""


def solution(x):
    """Return it."""
    return 2 * x


def check(make):
    """Raise unless `make` doubles."""
    assert make(3) == 6, "three doubled is six"


def mistake_squares(x):
    """Take `x * x` for it."""
    return x * x
'''
SOLVED = "from examples.exercises.double import check\n\ncheck(lambda x: 2 * x)"


def test_a_build_without_a_change_reads_no_page(book):
    book.write("examples/exercises/double.py", EXERCISE)
    said = '{"double": {"squares": "three doubled is six"}}'
    book.write("examples/exercises/said.json", said)
    book.write("docs/outer.txt", "Included words.\n")
    book.write("docs/pic.svg", PICTURE.format("first"))
    book.page("lends", LENDS.format(1))
    book.page("shows", SOLVED, prose=SHOWING)
    book.index("lends", "shows")
    assert book.build().code == 0
    again = book.build()
    assert again.code == 0, again.said
    assert "0 added, 0 changed, 0 removed" in again.said
    assert "no targets are out of date" in again.said
