"""A page is read again where what it shows of others has changed, and only then."""

import re

import pytest


@pytest.fixture
def chapter(book):
    """A book of two pages and a chapter that lists them."""
    book.page("a", "assert 1")
    book.page("b", "assert 1")
    listed = "# Chapter\n\n```{chapter}\n```\n\n```{toctree}\na\nb\n```\n"
    book.write("docs/chapter.md", listed)
    asked = "# Asked\n\n```{chapter}\na\n```\n"
    book.write("docs/asked.md", asked)
    book.index("chapter", "asked")
    built = book.build()
    assert built.code == 0, built.said
    return book


def read(said):
    """The pages that a build has read, where it names each."""
    return set(re.findall(r"reading sources\.\.\. \[ *\d+%\] (\w+)", said))


def test_a_title_or_a_length_is_shown_anew_where_it_is_listed(chapter):
    path = chapter.docs / "b.md"
    path.write_text(path.read_text().replace("# B", "# Another"))
    built = chapter.build("-v")
    assert built.code == 0, built.said
    assert read(built.said) == {"b", "chapter"}
    assert ">Another<" in chapter.text("chapter")

    path.write_text(path.read_text().replace("Prose.", "word " * 900))
    built = chapter.build("-v")
    assert read(built.said) == {"b", "chapter"}
    assert "5\N{NO-BREAK SPACE}min" in chapter.text("chapter")
    assert read(chapter.build("-v").said) == set()


def test_pages_that_another_process_has_read_are_remembered(chapter):
    for name in "asked", "chapter", "a", "b", "index":
        path = chapter.docs / f"{name}.md"
        path.write_text(path.read_text() + "\nMore.\n")
    for number in range(4):  # so many that they are shared out
        chapter.page(f"more{number}", "assert 1")
    chapter.index("chapter", "asked", *(f"more{number}" for number in range(4)))
    built = chapter.build("-j", "2")
    assert built.code == 0, built.said
    path = chapter.docs / "a.md"
    path.write_text(path.read_text().replace("# A", "# Another"))
    built = chapter.build("-v")
    assert built.code == 0, built.said
    assert read(built.said) == {"a", "asked", "chapter"}


def test_what_cannot_be_shown_is_told_by_each_build(chapter):
    path = chapter.docs / "asked.md"
    path.write_text(path.read_text().replace("\na\n", "\nnowhere\n"))
    for _ in range(2):
        built = chapter.build()
        assert built.code == 1
        assert "{chapter}: ['nowhere'] are not all pages of the book" in built.said
    chapter.page("nowhere", "assert 1")
    chapter.index("chapter", "asked", "nowhere")
    built = chapter.build()
    assert built.code == 0, built.said
    assert ">Nowhere<" in chapter.text("asked")
