"""A page says where it stands, and the sidebar calls it by its short title."""

import pytest

from book import place
from book.pages import read
from tests.conftest import Book

PAGE = """---
book:
  short: {short}
---

# {title}

{text}
"""
CHAPTER = """---
book:
  short: maps
---

# Maps of every kind

Read them in order.

```{chapter}
```

```{toctree}
:hidden:

first
second
```
"""


def write(book, name, short, title, words=10):
    """Write a page of so many words."""
    text = PAGE.format(short=short, title=title, text="word " * words)
    book.write(f"docs/{name}.md", text)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A chapter of two pages, beside a page without a chapter, in the real theme."""
    book = Book(tmp_path_factory.mktemp("place"), conf="")
    book.write("docs/maps/index.md", CHAPTER)
    write(book, "maps/first", "one", "The first of all maps")
    write(book, "maps/second", "two", "The second map, which is long", words=900)
    write(book, "lone", "alone", "A page that stands alone")
    book.index("maps/index", "lone")
    built = book.build()
    assert built.code == 0, built.said
    return book


def test_above_the_title_stand_chapter_place_and_minutes(made):
    second, lone = made.text("maps/second"), made.text("lone")
    assert '<p class="place"><a href="index.html">maps</a>, page 2 of 2 · 4 min' in (
        " ".join(second.split())
    )
    assert '<p class="place">1 min' in " ".join(lone.split())
    assert "A chapter of 2 pages" in made.text("maps/index")
    assert 'class="place"' not in made.text("index")


def test_the_sidebar_and_the_neighbours_say_the_short_title(made):
    page = made.text("maps/first")
    sidebar = page.split("bd-docs-nav")[1].split("</nav>")[0]
    for short in ("maps", "one", "two", "alone"):
        assert f">{short}<" in " ".join(sidebar.split()).replace("> ", ">").replace(
            " <", "<"
        )
    assert "second map" not in sidebar
    assert '<p class="prev-next-title">two</p>' in page
    assert "<h1>The first of all maps" in page


def test_a_chapter_lists_its_pages_by_their_titles(made):
    text = made.text("maps/index").split("<article")[1]
    assert text.index("The first of all maps") < text.index("The second map, which")
    assert "4\N{NO-BREAK SPACE}min" in text


def test_other_pages_follow_when_a_short_title_or_a_length_changes(made, tmp_path):
    copy = made.copied(tmp_path)
    write(copy, "maps/second", "number 2", "The second map, which is long", words=1900)
    built = copy.build()
    assert built.code == 0, built.said
    sidebar = copy.text("maps/first").split("bd-docs-nav")[1].split("</nav>")[0]
    assert "number 2" in sidebar
    assert "10\N{NO-BREAK SPACE}min" in copy.text("maps/index")


def test_a_list_of_pages_that_are_not_there_fails(book):
    book.write("docs/list.md", "# List\n\n```{chapter}\nmaps/third\n```\n")
    book.index("list")
    built = book.build()
    assert built.code == 1
    assert "{chapter}: ['maps/third'] are not all pages of the book" in built.said


def test_the_contents_are_chapters_in_the_order_of_reading(tmp_path):
    inside = {
        "index": ["two/index", "one/index", "words"],
        "one/index": ["b", "a", "deep/index"],
        "one/deep/index": ["c"],
        "two/index": ["a"],
    }
    pages = []
    for name in *inside, "words", "one/a", "one/b", "one/deep/c", "two/a", "nowhere":
        path = tmp_path / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        toctree = "\n".join(("```{toctree}", *inside.get(name, ()), "```"))
        path.write_text(f"# {name}\n\nText.\n\n{toctree if name in inside else ''}\n")
        pages.append(read(path, name))
    found = place.contents(pages, "index")
    assert [(chapter.name, [page.name for page in own]) for chapter, own in found] == [
        ("index", ["index", "words"]),
        ("two/index", ["two/index", "two/a"]),
        ("one/index", ["one/index", "one/b", "one/a"]),
        ("one/deep/index", ["one/deep/index", "one/deep/c"]),
    ]
    assert place.contents(pages, "not/there") == []


def test_code_takes_time_to_read_and_what_is_folded_takes_none(tmp_path):
    front = "---\nfile_format: mystnb\nkernelspec: {name: target}\n"
    front += "book: {kind: concept, budget: 9}\n---\n\n# Title\n\n"
    code = "\n".join(["x = 1"] * 60)
    check = "```{code-cell}\n:check:\n" + "assert x\n" * 400 + "```\n"
    path = tmp_path / "page.md"
    path.write_text(f"{front}```{{code-cell}}\n{code}\n```\n\n{check}")
    assert place.minutes(read(path, "page")) == 3
