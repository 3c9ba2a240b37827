"""How the pages and programs of a book belong together.

All can be reached and are shown; no two have the same title or answer one question.
"""

from __future__ import annotations

from book.source.chapters import LESSON
from tests.house.book import Book, at, used


def programs_are_shown(book: Book) -> list[str]:
    """Every program is listed or used on a page, or by a program that is."""
    shown = set().union(*(book.shown(book.page(name)) for name in book.page_names))
    todo = sorted(shown & set(book.program_names))
    while todo:
        more = used(book.program(todo.pop()).text) & set(book.program_names) - shown
        shown |= more
        todo += more
    return [
        f"examples/{name}.py:1: no page lists it or imports from it."
        for name in book.program_names
        if name not in shown
    ]


def pages_are_reachable(book: Book) -> list[str]:
    """Every page is in a toctree that the index leads to."""
    reached, todo = set(), ["index"]
    while todo:
        name = todo.pop()
        if name in book.page_names and name not in reached:
            reached.add(name)
            todo += book.page(name).toctree
    return [
        f"docs/{name}.md:1: no toctree leads to it."
        for name in book.page_names
        if name not in reached
    ]


def short_titles_are_unique(book: Book) -> list[str]:
    """In a chapter no two pages have the same short title."""
    found = []
    for chapter in map(book.page, book.page_names):
        seen: dict[str, str] = {}
        for name in (n for n in chapter.toctree if n in book.page_names):
            page = book.page(name)
            short = (page.short or page.title).casefold()
            if seen.setdefault(short, name) != name:
                found.append(at(page, 1, f"{seen[short]} is called {short!r} too"))
    return found


def questions_are_unique(book: Book) -> list[str]:
    """A reader's question is answered in one place."""
    seen: dict[str, str] = {}
    found = []
    for name in book.page_names:
        page = book.page(name)
        for answer in page.answers:
            if answer.question in seen:
                what = f"{answer.question!r} is answered on {seen[answer.question]} too"
                found.append(at(page, 1, what))
            seen[answer.question] = name
    return found


def questions_are_collected(book: Book) -> list[str]:
    """What a page declares is listed on `evidence/questions`, with its chapter."""
    if "evidence/questions" not in book.page_names:
        return []
    lists = [f for f in book.page("evidence/questions").fences if f.name == "questions"]
    listed = {fence.argument for fence in lists}
    pages = [page for page in map(book.page, book.page_names) if page.answers]
    missing = {page.name.split("/")[0] for page in pages} - listed
    where = "docs/evidence/questions.md:1"
    return [f"{where}: it lacks ```{{questions}} {name}```" for name in sorted(missing)]


def headings_are_unique(book: Book) -> list[str]:
    """No two pages have the same heading: an answer has one address.

    But for lessons, which are built alike.
    """
    seen: dict[str, str] = {}
    found = []
    for name in book.page_names:
        page = book.page(name)
        for heading in page.headings if page.kind not in (None, LESSON) else ():
            here = f"docs/{name}.md:{heading.line}"
            there = seen.setdefault(heading.text.lower(), here)
            if there != here:
                what = f"{heading.text!r} is the heading of {there}"
                found.append(at(page, heading.line, what))
    return found
