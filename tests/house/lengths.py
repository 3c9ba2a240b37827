"""How long a page, a cell or a program usually is; all of it is advice."""

from __future__ import annotations

import statistics
import sys

from book.snippets.slicer import Slicer, programs
from book.source.model import Cell, Page
from book.state import Problem
from tests.house.book import Book, at, visible_cells, word_count, words
from tests.house.teaching_pages import EIGHT

CELL, COLUMNS = 15, 80  # lines of a cell, and how wide they are
CONCEPT_LESSONS, ENTRY_LESSONS = 12, 2  # cells
CONCEPT_WORDS, WORDS_BEFORE_CODE, LESSON_WORDS = 900, 150, range(900, 1601)
SHORT_PROGRAM, LONG_PROGRAM, TRAINING = 40, 80, 120  # lines


def code_comes_soon(page: Page) -> list[str]:
    """Few words stand above the first code."""
    shown = visible_cells(page)
    start = next((heading.line for heading in page.headings if heading.level == 1), 0)
    if not shown:
        return []
    first = shown[0].line
    before = [text for n, text in page.prose if start < n < first]
    count = word_count("\n".join(before))
    if count <= WORDS_BEFORE_CODE:
        return []
    what = f"{count} words before the first code; {WORDS_BEFORE_CODE} are usual"
    return [at(page, first, what)]


def lessons_are_short(page: Page) -> list[str]:
    """A cell, a concept page and an entry of a look-up page have a usual length.

    What is folded away may be long, such as the program of the lesson before.
    """
    found, shown = [], visible_cells(page)
    for cell in (one for one in shown if "hide-input" not in one.tags):
        if (count := code_lines(cell)) > CELL:
            what = f"a lesson has {count} lines of code; {CELL} is usual"
            found.append(at(page, cell.line, what))
        for number, line in enumerate(cell.source.splitlines(), cell.line):
            if len(line) > COLUMNS and not line.startswith(EIGHT):
                what = f"a line of {len(line)} columns; {COLUMNS} is usual"
                found.append(at(page, number, what))
    if page.kind == "concept":
        if len(shown) > CONCEPT_LESSONS:
            what = f"{len(shown)} lessons on one page; {CONCEPT_LESSONS} is usual"
            found.append(at(page, shown[-1].line, what))
        if (count := words(page)) > CONCEPT_WORDS:
            what = f"the page has {count} words of prose; {CONCEPT_WORDS} is usual"
            found.append(at(page, 1, what))
    if page.kind != "look-up":
        return found
    heads = [heading.line for heading in page.headings]
    for line, below in zip(heads, [*heads[1:], sys.maxsize], strict=True):
        count = sum(line < cell.line < below for cell in shown)
        if count > ENTRY_LESSONS:
            what = f"an entry has {count} lessons; {ENTRY_LESSONS} is usual"
            found.append(at(page, line, what))
    return found


def code_lines(cell: Cell) -> int:
    """Return how many lines of a cell are not empty."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def a_lesson_takes_half_an_hour(page: Page) -> list[str]:
    """A lesson has enough words to explain, and no more than one sitting."""
    count = words(page)
    if count in LESSON_WORDS:
        return []
    usual = f"{LESSON_WORDS[0]:,} to {LESSON_WORDS[-1]:,}"
    return [at(page, 1, f"the lesson has {count:,} words; {usual} are usual")]


def copies_are_short(book: Book) -> list[str]:
    """What is copied from a page is read in one go, and most of it at a glance.

    An instrument, or an exercise's check, comes along whole, and is not counted.
    """
    slicer = Slicer((book.root, book.root / "docs"))
    files = (book.root / "examples").rglob("*.py")
    texts = [path.read_text(encoding="utf-8") for path in files]
    written = {line.strip() for text in texts for line in text.splitlines()}
    lengths, found = [], []
    for page in map(book.page, book.page_names):
        copied = programs(page, slicer, _nothing) if page.kind else {}
        for which, text in copied.items():
            lines = text.splitlines()
            lengths.append(len(lines))
            own = sum(line.strip() not in written for line in lines)
            if own > LONG_PROGRAM:
                what = f"the program of {which} has {own} lines of its own"
                what = f"{what}; {LONG_PROGRAM} are many"
                found.append(at(page, _line(page, which), what))
    middle = statistics.median(lengths or [0])
    if middle > SHORT_PROGRAM:
        what = f"half of all programs have more than {middle:g} lines"
        found.append(f"docs/:1: {what}; {SHORT_PROGRAM} are usual.")
    return found


def _nothing(problem: Problem) -> None:
    """Leave what cannot be cut to the build, which says so."""


def _line(page: Page, which: str) -> int:
    """The line of the cell or the listing that a program is of."""
    for kind, parts in ("cell", page.cells), ("listing", page.listings):
        if which.startswith(kind):
            return parts[int(which.removeprefix(kind)) - 1].line
    return 1


def training_is_read_in_one_go(book: Book) -> list[str]:
    """A program that trains fits on a few screens."""
    found = []
    for name in book.program_names:
        count = len(book.program(name).text.splitlines())
        if name.startswith("train/") and count > TRAINING:
            what = f"it has {count} lines; {TRAINING} are usual for one that trains"
            found.append(f"examples/{name}.py:1: {what}.")
    return found
