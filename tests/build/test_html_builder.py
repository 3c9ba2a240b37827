"""What goes wrong on one page fails that page, and the others are built."""

import json
import re

import pytest

BOOM = """
def setup(app):
    def boom(where, what, name):
        if name == what:
            raise RuntimeError(f"boom while {where}")

    from book.build import pipeline
    read, programs = pipeline.read, pipeline.programs
    def read_page(path, name):
        boom("reading", "read", name)
        return read(path, name)
    def slice_page(page, *rest):
        boom("slicing", "slice", page.name)
        return programs(page, *rest)
    pipeline.read, pipeline.programs = read_page, slice_page
    def parse(app, doctree):
        if any("cell" in node.get("classes", []) for node in doctree.findall()
               if hasattr(node, "get")):
            boom("parsing", "parse", app.env.docname)
    app.connect("doctree-read", parse)
    def write(app, name, *_):
        boom("writing", "write", name)
    app.connect("html-page-context", write)
"""
STEPS = {"read": "reading", "slice": "slicing", "parse": "parsing", "write": "writing"}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_error_of_the_engine_fails_its_page_and_the_others_are_built(book, jobs):
    conf = (book.docs / "conf.py").read_text()
    (book.docs / "conf.py").write_text(conf + BOOM)
    for name in STEPS:
        book.page(name, "x = 1\nassert x")
    book.page("fine", "x = 'as it should be'\nx\nassert x")
    built = book.build("-j", jobs)
    assert built.code == 1
    for name, doing in STEPS.items():
        why = f"the engine failed: RuntimeError: boom while {doing}; please report"
        why = f"{name}: {why}"
        assert built.said.count(why) == 1, built.said
        where = re.escape(str(book.docs / f"{name}.md"))
        assert re.search(f"{where}.*{re.escape(why)}", built.said)
    assert "Traceback" not in built.said
    assert "as it should be" in book.text("fine")
    assert set(book.record()["pages"]) == {"fine"}
    again = book.build("-v", "-j", jobs)
    assert again.code == 1
    assert all(f"boom while {doing}; please" in again.said for doing in STEPS.values())
    assert 'raise RuntimeError(f"boom while' in again.said
    assert set(book.record()["pages"]) == {"fine"}
    (book.docs / "conf.py").write_text(conf)
    assert book.build().code == 0
    assert set(book.record()["pages"]) == {*STEPS, "fine"}
    (book.docs / "conf.py").write_text(conf + BOOM)
    assert (book.html / "write.md").exists()
    book.page("write", "x = 2\nassert x")
    assert book.build("-j", jobs).code == 1
    assert not [*book.html.glob("write.*")]


def test_the_search_keeps_the_terms_of_pages_that_are_not_written_again(book):
    def glossary(name, words):
        text = f"```{{glossary}}\nshared\n  {words}\n\n{name}\n  It.\n```"
        book.write(f"docs/{name}.md", f"# {name.title()}\n\n{text}\n")

    def terms():
        text = (book.html / "searchindex.js").read_text()
        return json.loads(text[text.index("(") + 1 : -1])["indexentries"]

    for name in ("first", "second", "third"):
        book.write(f"docs/{name}.md", f"# {name}\n\n```{{index}} shared\n```\n")
    glossary("first", "One.")
    book.index("first", "second", "third")
    built = book.build()
    assert built.code == 0, built.said
    before = terms()
    assert set(before) == {"shared", "first"} and len(before["shared"]) == 3
    glossary("first", "Two.")
    for _ in range(2):
        assert book.build().code == 0
        assert terms() == before
    (book.docs / "second.md").unlink()
    book.index("first", "third")
    assert book.build().code == 0
    assert set(terms()) == {"shared", "first"} and len(terms()["shared"]) == 2


def test_what_could_be_lost_stops_its_page_only(book):
    book.page("fine", "assert True")
    book.write("docs/empty.md", "")
    (book.docs / "latin.md").write_bytes("# Maße\n".encode("latin-1"))
    book.write("docs/broken.md", "---\ntitle: [\n---\n\n# Broken\n")
    book.page("listed", "assert True", prose="- ```{code-cell}\n  1\n  ```")
    book.index("fine", "empty", "latin", "broken", "listed")
    built = book.build()
    assert built.code == 1
    for said in (
        "empty.md:1: WARNING: empty: is empty",
        "latin.md:1: WARNING: latin: is not UTF-8",
        "broken.md:2: WARNING: broken: its front matter is not YAML",
        "listed: a code cell inside a list would not run",
    ):
        assert said in built.said
    assert "Traceback" not in built.said and "jsonschema" not in built.said
    assert set(book.record()["pages"]) == {"fine"}
    assert "nothing on it is verified" in book.text("empty")
