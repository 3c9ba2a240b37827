"""Rules for the lessons of the course, which readers follow in their order."""

from __future__ import annotations

import ast
import sys

from book.source.chapters import LOOK_UP, linked_pages
from book.source.model import Fence, Page
from tests.house.book import at, visible_cells
from tests.house.teaching_pages import LIBRARIES, imported_by

GUESSES = 2  # or more in a lesson
LESSON_LINKS = 3  # or fewer that lead out of the course


def boxes(page: Page, title: str) -> list[Fence]:
    """Return the boxes of a page that are called `title`."""
    found = (fence for fence in page.fences if fence.name == "admonition")
    return [fence for fence in found if fence.argument == title]


def a_lesson_needs_no_book(page: Page) -> list[str]:
    """Its code imports what everybody has, and of the book the check of an exercise."""
    found = []
    for cell in visible_cells(page):
        for node in ast.walk(ast.parse(cell.source)):
            for line, module in imported_by(node):
                top = module.split(".")[0]
                known = top in LIBRARIES or top in sys.stdlib_module_names
                if not known and not _is_check(node):
                    what = f"a lesson imports from {module}, which readers do not have"
                    found.append(at(page, cell.line + line - 1, what))
    return found


def _is_check(node: ast.AST) -> bool:
    """Whether it is `from examples.exercises.NAME import check`."""
    module = getattr(node, "module", None) or ""
    named = [alias.name for alias in node.names]
    return module.startswith("examples.exercises.") and named == ["check"]


def it_lists_its_program(page: Page) -> list[str]:
    """A lesson shows the program that has grown until then as a whole."""
    for one in page.listings:
        if one.path.parent.parts[-2:] == ("examples", "learn") and not one.pyobject:
            return []
    last = len(page.text.splitlines())
    return [at(page, last, "it lists no whole program of examples/learn/")]


def it_lets_the_reader_guess(page: Page) -> list[str]:
    """Twice at least, a lesson asks before it shows."""
    count = len(boxes(page, "Guess"))
    if count >= GUESSES:
        return []
    last = len(page.text.splitlines())
    what = f"boxes called 'Guess': {count}; {GUESSES} or more are usual"
    return [at(page, last, what)]


def it_says_where_to_look_it_up(page: Page) -> list[str]:
    """The box *Look it up* leads to the pages behind a lesson."""
    if boxes(page, LOOK_UP):
        return []
    last = len(page.text.splitlines())
    return [at(page, last, f"there is no box {LOOK_UP!r}")]


def it_has_an_exercise(page: Page) -> list[str]:
    """A lesson has something to do, and a check that says whether it is done."""
    if any(cell.exercise for cell in page.cells):
        return []
    last = len(page.text.splitlines())
    what = "no cell has `from examples.exercises.NAME import check`"
    return [at(page, last, what)]


def a_lesson_stands_alone(page: Page) -> list[str]:
    """Nobody has to leave a lesson: links out of the course stand in its last box."""
    inside = [range(box.line, box.last + 1) for box in boxes(page, LOOK_UP)]
    found = []
    for line, text in page.prose:
        if not any(line in box for box in inside):
            found += [
                line for name in linked_pages(page, text) if _is_outside(page, name)
            ]
    if len(found) <= LESSON_LINKS:
        return []
    what = f"{len(found)} links lead out of the course; {LESSON_LINKS} are usual"
    return [at(page, found[LESSON_LINKS], what)]


def _is_outside(page: Page, name: str) -> bool:
    """Whether the page called `name` is in another folder."""
    return name.rpartition("/")[0] != page.name.rpartition("/")[0]
