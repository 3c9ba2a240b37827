"""The search knows the headings of each page, their anchors and what they answer."""

import json

import pytest

PAGE = """---
book:
  short: Axes
answers:
  - question: Why is my loop slow?
    at: laxscan--in_axes
  - question: How do I begin?
    at: choose-the-axes
---

# Choose the axes

Text.

## lax.scan & `in_axes`

Text.

## 2 maps, naïve

Text.

### A "function's" own

Text.
"""
FIGURE = """:tags: [remove-input]
from IPython.display import HTML
HTML('<svg viewBox="0 0 9 9"><text>quokka</text></svg>')"""


def sections(book):
    """What the search is handed."""
    text = (book.html / "_static" / "sections.js").read_text()
    first = text.splitlines()[0]
    return json.loads(first.removeprefix("var sections = ").rstrip(";"))


def words(book):
    """The words that Sphinx's index knows."""
    text = (book.html / "searchindex.js").read_text()
    return json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))["terms"]


@pytest.fixture(scope="module")
def built(shared):
    """A book with a page of sections, and one with a figure."""
    shared.page("figure", FIGURE)
    shared.write("docs/axes.md", PAGE)
    shared.index("axes", "figure")
    made = shared.build()
    assert made.code == 0, made.said
    return shared


def test_a_section_has_its_anchor_its_heading_and_the_words_of_questions(built):
    assert sections(built)["axes"] == [
        ["", "Choose the axes", "axes", "begin"],
        ["#", "lax.scan & in_axes", "loop slow"],
        ["maps-naive", "2 maps, naïve"],
        ["#", "A \u201cfunction\u2019s\u201d own"],
    ]
    assert 'id="lax-scan-in-axes"' in built.text("axes")
    assert 'id="a-function-s-own"' in built.text("axes")


def test_the_words_in_figures_are_not_in_the_index(built):
    assert "quokka" in built.text("figure")
    assert "prose" in words(built) and "quokka" not in words(built)


def test_a_later_build_of_one_page_keeps_what_is_known_of_the_others(book):
    book.write("docs/a.md", "# Apples\n\nPrimordial soup.\n")
    book.write("docs/b.md", "# Pears\n\nQuotidian bread.\n")
    book.index("a", "b")
    made = book.build()
    assert made.code == 0, made.said
    book.write("docs/b.md", "# Plums\n\nVespertine wine.\n")
    made = book.build()
    assert made.code == 0, made.said
    known = words(book)
    assert known["primordi"] != [] and known["vespertin"] != []
    assert "quotidian" not in known
    headings = {name: found[0][1] for name, found in sections(book).items()}
    assert headings == {"index": "Index", "a": "Apples", "b": "Plums"}
