"""Small books, as `nox -s new` writes them, for tests to break one rule at a time."""

from collections.abc import Callable
from pathlib import Path

import pytest

from book.scaffold import new as scaffold
from tests.house.book import Book

INDEX = """---
book:
  short: A book
---

# A book

```{toctree}
shard_map/varying
vmap/options
```
"""
PAGE = "docs/shard_map/varying.md"
TAUGHT = "docs/learn/mapped.md"
PROGRAM = "examples/shard_map/varying.py"
# What tests replace on these pages.
LEAD = "Here: the answer, in two"
HEAD = "## The lowest of all takes one pmin"
TASK = "## Here: exercise for varying: a task of ten minutes"
TABLE = "Here: an answer table or a figure, where the question is *which* or *where*."
ABOVE = "above_own_lowest(x)\n```"
ENTRY = "## The mean of each column"
FIRST = """  - question: "Here: a question of a reader, in a reader's words"
    at: the-lowest-of-all-takes-one-pmin
"""


def written(root, text, path):
    """Write a template with no TODO left."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text.replace("TODO", "Here"), encoding="utf-8")


@pytest.fixture
def small(tmp_path):
    """A book of two pages, as `nox -s new` writes them."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(INDEX)
    scaffolded(tmp_path, "shard_map/varying")
    scaffolded(tmp_path, "vmap/options", "look-up", kernel="target")
    return Book(tmp_path)


def scaffolded(root, name, kind="concept", kernel="mesh-of-eight"):
    """Write what `nox -s new` writes in a chapter of pages with this kernel."""
    other = root / "docs" / name.partition("/")[0] / "other.md"
    other.parent.mkdir()
    other.write_text(f"---\nkernelspec:\n  name: {kernel}\n---\n")
    for path in scaffold.create(root, name, kind):
        written(root, (root / path).read_text(encoding="utf-8"), path)
    other.unlink()


@pytest.fixture
def program(small):
    """The same book, and a program."""
    text = Path(__file__).with_name("program.py.txt").read_text("utf-8")
    text = text.replace("FOLDER", "shard_map").replace("NAME", "varying")
    written(small.root, text, "examples/shard_map/varying.py")
    return small


@pytest.fixture
def course(tmp_path):
    """A book of one lesson, as `nox -s new` writes it."""
    (tmp_path / "docs").mkdir()
    index = "---\nbook:\n  short: A book\n---\n\n# A book\n\n"
    index += "```{toctree}\nlearn/mapped\n```\n"
    (tmp_path / "docs/index.md").write_text(index)
    scaffolded(tmp_path, "learn/mapped", "lesson")
    return Book(tmp_path)


def change(book, path, old, new):
    """Replace `old` by `new` in a file of `book`, where it must occur."""
    text = (book.root / path).read_text(encoding="utf-8")
    assert old in text
    (book.root / path).write_text(text.replace(old, new, 1), encoding="utf-8")
    return Book(book.root)


def name_of(rule: Callable) -> str:
    """Return a rule's name as words."""
    return rule.__name__.replace("_", " ")


def objects_to_page(book, rule, old, new, says):
    """Assert that `rule` has a complaint with `says` in it, after a change."""
    page = change(book, PAGE, old, new).page("shard_map/varying")
    found = [sentence for sentence in rule(page) if says in sentence]
    assert found, rule(page)
    path, line, _ = found[0].split(":", 2)
    assert path == PAGE
    assert 1 <= int(line) <= len(page.text.splitlines())


def objects_to_lesson(book, rule, old, new, says):
    """Assert that `rule` has one complaint of the lesson, after a change."""
    page = change(book, TAUGHT, old, new).page("learn/mapped")
    [found] = rule(page)
    assert says in found
    path, line, _ = found.split(":", 2)
    assert path == TAUGHT
    assert 1 <= int(line) <= len(page.text.splitlines())


def objects_to_program(book, rule, old, new, says):
    """Assert that `rule` has one complaint of the program, after a change."""
    book = change(book, PROGRAM, old, new)
    [found] = rule(book.program("shard_map/varying"))
    assert says in found
    assert found.startswith(f"{PROGRAM}:")


# The fixture with the small book, and what is asserted after a change there.
OBJECTS = {
    "pages": ("small", objects_to_page),
    "lessons": ("course", objects_to_lesson),
    "programs": ("program", objects_to_program),
}


def breaks(**tables):
    """Make a test that breaks each rule of `tables` once for each of its cases.

    `pages`, `lessons` and `programs` have a rule's cases below the rule: what is
    replaced on the page or program of the small book, by what, and a part of the
    complaint.
    """

    @pytest.mark.parametrize(
        ("kind", "case"),
        [
            pytest.param(kind, (rule, old, new, says), id=f"{name_of(rule)}: {says}")
            for kind, table in tables.items()
            for rule, changes in table.items()
            for old, new, says in changes
        ],
    )
    def breaks_each_rule(kind, case, request):
        book, objects = OBJECTS[kind]
        objects(request.getfixturevalue(book), *case)

    return breaks_each_rule
