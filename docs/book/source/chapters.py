"""The order of the pages: chapters, lessons, and how long one reads.

A chapter is a page with a table of contents.  A lesson says its number among the
lessons of its chapter, and those that it `needs`, which stand above it there.  A page
that a lesson's box *Look it up* leads to says which lesson that is, for whoever is new
to the subject.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field

from book.source.model import Page
from book.state import Problem

WORDS, LINES = 200, 20  # that one reads in a minute: of prose, and of code
LESSON, LOOK_UP = "lesson", "Look it up"
_LINK = re.compile(r"\]\(([^()\s#]+\.md)(?:#[^()\s]*)?\)")


@dataclass(frozen=True)
class LessonLink:
    """What a link to a lesson says of it."""

    page: str
    number: int
    title: str


@dataclass
class Place:
    """Where a page stands in the book, as the line above its title says it."""

    minutes: int  # to read it
    pages: int = 0  # of the chapter that it is the first page of
    chapter: str | None = None  # the page whose table of contents has it
    called: str = ""  # the short title of that chapter
    number: int = 0  # in its chapter, from 1
    of: int = 0  # so many pages
    lesson: int = 0  # its number, from 1, among the chapter's lessons
    lessons: int = 0
    needs: list[LessonLink] = field(default_factory=list)
    new: LessonLink | None = None  # for whoever is new to what the page is about


def reading_minutes(page: Page) -> int:
    """How long one reads a page, without what is folded away; at least one minute."""
    words = sum(len(text.split()) for _, text in page.prose)
    cells = [cell for cell in page.cells if cell.visible]
    shown = [cell.source for cell in cells if "hide-input" not in cell.tags]
    lines = sum(1 for source in shown for line in source.splitlines() if line.strip())
    return max(1, round(words / WORDS + lines / LINES))


def table_of_contents(pages: list[Page], root: str) -> list[tuple[Page, list[Page]]]:
    """Each chapter, and its pages after itself, in the order of the contents.

    The first is the front page (`root`), with those that are in no other chapter.
    """
    known = {page.name: page for page in pages}
    found: list[tuple[Page, list[Page]]] = []

    def add(name: str) -> None:
        chapter = known.pop(name)
        inside = [known[name] for name in chapter.toctree if name in known]
        leaves = [known.pop(page.name) for page in inside if not page.toctree]
        found.append((chapter, [chapter, *leaves]))
        for page in inside:
            if page.name in known:
                add(page.name)

    if root in known:
        add(root)
    return found


def page_places(pages: list[Page], root: str) -> dict[str, Place]:
    """Where each page but the front page (`root`) stands, by its name."""
    known = {page.name: page for page in pages if page.name != root}
    places = {name: Place(reading_minutes(page)) for name, page in known.items()}
    for chapter in known.values():
        inside = [name for name in chapter.toctree if name in known]
        places[chapter.name].pages = len(inside)
        for number, name in enumerate(inside, 1):
            place = places[name]
            place.chapter, place.called = chapter.name, chapter.short or chapter.title
            place.number, place.of = number, len(inside)
        lessons = [name for name in inside if known[name].kind == LESSON]
        for number, name in enumerate(lessons, 1):
            places[name].lesson, places[name].lessons = number, len(lessons)
    links = {
        name: LessonLink(name, place.lesson, plain_title(known[name].title))
        for name, place in places.items()
        if place.lesson
    }
    for name, place in places.items():
        needs = [needed for _, needed in known[name].needs]
        place.needs = [links[needed] for needed in needs if needed in links]
    for link in sorted(links.values(), key=lambda link: link.number):
        for name in look_up_box(known[link.page]):
            if name in places and not places[name].new:
                place = places[name]
                if places[link.page].chapter not in (name, place.chapter):
                    place.new = link
    return places


def look_up_box(page: Page) -> list[str]:
    """The pages that the box *Look it up* of a lesson leads to."""
    boxes = [fence for fence in page.fences if fence.name == "admonition"]
    lines = [line for box in boxes if box.argument == LOOK_UP for line in box.body]
    return linked_pages(page, "\n".join(lines))


def plain_title(title: str) -> str:
    """A title without the marks of Markdown."""
    return re.sub(r"[`*]|\\(?=\W)", "", title)


def linked_pages(page: Page, text: str) -> list[str]:
    """The pages of the book that links in a `text` of `page` lead to."""
    folder = posixpath.dirname(page.name)
    links = [link for link in _LINK.findall(text) if "://" not in link]
    paths = (posixpath.normpath(posixpath.join("/", folder, link)) for link in links)
    return [path.strip("/").removesuffix(".md") for path in paths]


def lessons_not_above(pages: list[Page]) -> list[Problem]:
    """A problem for each lesson that a page needs and that is not above it.

    A lesson whose chapter is left out, as where some pages are tried, has no order.
    """
    known = {page.name: page for page in pages}
    found = []
    for page in (page for page in pages if page.needs):
        lists = [one.toctree for one in pages if page.name in one.toctree]
        if not lists:
            continue
        for line, name in page.needs:
            above = any(name in one[: one.index(page.name)] for one in lists)
            other = known.get(name)
            if not above or (other and other.kind != LESSON):
                why = f"needs {name}, which is no lesson above it in its chapter"
                found.append(Problem(page.name, why, line))
    return found
