"""The order of the pages: chapters, lessons, and how long one reads.

A chapter is a page with a table of contents. A lesson says its number among the lessons
of its chapter, and those that it `needs`, which stand above it there. A page that a
lesson's box *Look it up* leads to says which lesson that is, for whoever is new to the
subject.
"""

from __future__ import annotations

import posixpath
import re

from book.source.model import Page
from book.state import Problem

WORDS, LINES = 200, 20  # that one reads in a minute: of prose, and of code
LESSON, LOOK_UP = "lesson", "Look it up"
_LINK = re.compile(r"\]\(([^()\s#]+\.md)(?:#[^()\s]*)?\)")


def reading_minutes(page: Page) -> int:
    """How long one reads a page, without what is folded away; at least one minute."""
    words = sum(len(text.split()) for _, text in page.prose)
    cells = [cell for cell in page.cells if cell.visible]
    shown = [cell.source for cell in cells if "hide-input" not in cell.tags]
    lines = sum(bool(line.strip()) for source in shown for line in source.splitlines())
    return max(1, round(words / WORDS + lines / LINES))


def table_of_contents(pages: list[Page], root: str) -> list[tuple[Page, list[Page]]]:
    """Each chapter, and its pages after itself, in the order of the contents.

    The first is the front page, with those that are in no other chapter.
    """
    known = {page.name: page for page in pages}
    found = []

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


def page_places(pages: list[Page], root: str) -> dict[str, dict]:
    """What each page says of its place, by its name; the front page says none."""
    known = {page.name: page for page in pages}
    here = [page for page in pages if page.name != root]
    found = {page.name: {"minutes": reading_minutes(page)} for page in here}
    for chapter in here:
        inside = [name for name in chapter.toctree if name in known]
        if inside:
            found[chapter.name] |= {"pages": len(inside)}
        called = {"chapter": chapter.name, "called": chapter.short or chapter.title}
        for number, name in enumerate(inside, 1):
            found[name] |= called | {"number": number, "of": len(inside)}
        lessons = [name for name in inside if known[name].kind == LESSON]
        for number, name in enumerate(lessons, 1):
            found[name] |= {"lesson": number, "lessons": len(lessons)}
    for page in here:
        needed = [name for _, name in page.needs if "lesson" in found.get(name, {})]
        if needed:
            found[page.name]["needs"] = [_lesson(known[n], found) for n in needed]
    lessons = [page for page in here if "lesson" in found[page.name]]
    for page in sorted(lessons, key=lambda page: found[page.name]["lesson"]):
        for name in look_up_box(page):
            if name in found and not _together(found[page.name], found[name], name):
                found[name].setdefault("new", _lesson(page, found))
    return found


def look_up_box(page: Page) -> list[str]:
    """The pages that the box *Look it up* of a lesson leads to."""
    boxes = [fence for fence in page.fences if fence.name == "admonition"]
    lines = [line for box in boxes if box.argument == LOOK_UP for line in box.body]
    return linked_pages(page, "\n".join(lines))


def _together(lesson: dict, place: dict, name: str) -> bool:
    """Whether the page called `name`, which is at `place`, is of a lesson's chapter."""
    return lesson["chapter"] in (name, place.get("chapter"))


def _lesson(page: Page, places: dict[str, dict]) -> dict:
    """What a link to a lesson says of it."""
    number = places[page.name]["lesson"]
    return {"page": page.name, "number": number, "title": plain_title(page.title)}


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
    for page in pages:
        lists = [one.toctree for one in pages if page.name in one.toctree]
        for line, name in page.needs if lists else ():
            above = any(_above(name, page.name, toctree) for toctree in lists)
            other = known.get(name)
            if not above or (other and other.kind != LESSON):
                why = f"needs {name}, which is no lesson above it in its chapter"
                found.append(Problem(page.name, why, line))
    return found


def _above(first: str, second: str, toctree: list[str]) -> bool:
    """Whether a toctree has both pages, in this order."""
    if first not in toctree or second not in toctree:
        return False
    return toctree.index(first) < toctree.index(second)
