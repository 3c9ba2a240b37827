"""What goes wrong on one page stays there, and of a page that is gone nothing stays."""

import os
import re

import pytest

BOOM = """
def setup(app):
    def boom(where, what, name):
        if name == what:
            raise RuntimeError(f"boom while {where}")

    from book.build import pipeline
    read, cut = pipeline.read, pipeline.programs
    def read_page(path, name):
        boom("reading", "read", name)
        return read(path, name)
    def cut_page(page, *rest):
        boom("cutting", "cut", page.name)
        return cut(page, *rest)
    pipeline.read, pipeline.programs = read_page, cut_page
    def parse(app, doctree):
        if any("cell" in node.get("classes", []) for node in doctree.findall()
               if hasattr(node, "get")):
            boom("parsing", "parse", app.env.docname)
    app.connect("doctree-read", parse)
    def write(app, name, *_):
        boom("writing", "write", name)
    app.connect("html-page-context", write)
"""
STEPS = {"read": "reading", "cut": "cutting", "parse": "parsing", "write": "writing"}
SECOND = """---
file_format: mystnb
kernelspec: {name: target}
book: {kind: concept, budget: 30}
answers:
  - question: How many?
    at: how-many-there-are
---

# Second

## How many there are

```{code-cell}
x = 2
```

```{code-cell}
:check:
assert x == 2
```
"""


def files(book, name):
    """What there is of a page in the folder of builds, but for lists of pages."""
    found = [p for p in (book.docs / "_build").rglob("*") if name in p.as_posix()]
    return sorted(p.relative_to(book.docs / "_build").as_posix() for p in found)


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


def test_of_a_page_that_is_gone_nothing_stays(book):
    book.page("stays", "1\nassert True")
    book.page("leaving", "x = 'unforgettable'\nx\nassert x")
    book.write("docs/deep/leaving.md", "# Deep\n\nProse, unforgettable.\n")
    book.index("stays", "leaving", "deep/leaving")
    assert book.build().code == 0
    before = files(book, "leaving")
    for one in ("html/leaving.html", "html/deep/leaving.html", "snippets/leaving"):
        assert one in before
    assert any(one.startswith("cache/") for one in before)
    assert "unforgett" in (book.html / "searchindex.js").read_text()
    (book.docs / "leaving.md").rename(book.docs / "arrived.md")
    (book.docs / "deep" / "leaving.md").unlink()
    book.index("stays", "arrived")
    built = book.build()
    assert built.code == 0, built.said
    assert files(book, "leaving") == []
    assert not (book.html / "deep").exists()
    index = (book.html / "searchindex.js").read_text()
    assert "arrived" in index and '"leaving"' not in index
    assert set(book.record()["pages"]) == {"stays", "arrived"}
    assert (book.html / "search.html").exists() and (book.html / "index.html").exists()
    # The page alone is gone: nothing else has changed.
    (book.docs / "arrived.md").unlink()
    book.build()
    assert files(book, "arrived") == []


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
    # And nothing of Sphinx's own is published, nor any path.
    assert not (book.html / ".doctrees").exists()
    assert (book.docs / "_build" / "doctrees" / "timed.doctree").exists()


def test_pages_are_counted_and_answers_lead_somewhere(book):
    book.page("first", "assert True")
    book.write("docs/second.md", SECOND)
    book.index("first", "second")
    built = book.build()
    assert built.code == 0, built.said
    assert "3 pages\n" in built.said
    assert '"how-many-there-are"' in book.text("second")
    book.write("docs/second.md", SECOND.replace("at: how-many-", "at: how-few-"))
    built = book.build()
    assert built.code == 1
    assert "second.md:7: WARNING: second: answers at 'how-few-there-are'" in built.said
    (book.docs / "first.md").unlink()
    book.write("docs/second.md", SECOND)
    book.index("second")
    assert "2 pages\n" in book.build().said


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
