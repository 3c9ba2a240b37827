"""Advice on pages and programs, which nobody has to follow: `nox -s advice`.

    python -m tests.house.advice
    python -m tests.house.advice vmap/axes learn/one_example

prints where a page or a program is longer than most, is not built as most are, says
what another page says in the same words, uses a word that the others do not, or leaves
one of the glossary unlinked.  It never fails.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from book.snippets.slicer import Slicer, programs
from book.source.model import Page
from book.state import Problem
from tests.house import book as house
from tests.house import teaching_pages as page_rules

ROOT = Path(__file__).parents[2]
SHORT_PROGRAM, LONG_PROGRAM, TRAINING = 40, 80, 120  # lines


def of_page(page: Page) -> list[str]:
    """The advice on a page; what only a page that teaches is told is not for others."""
    return [one for rule in page_rules.advice_of(page) for one in rule(page)]


def copies_are_short(book: house.Book) -> list[str]:
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
                found.append(house.at(page, _line(page, which), what))
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


def training_is_read_in_one_go(book: house.Book) -> list[str]:
    """A program that trains fits on a few screens."""
    found = []
    for name in book.program_names:
        count = len(book.program(name).text.splitlines())
        if name.startswith("train/") and count > TRAINING:
            what = f"it has {count} lines; {TRAINING} are usual for one that trains"
            found.append(f"examples/{name}.py:1: {what}.")
    return found


def programs_use_usual_words(book: house.Book) -> list[str]:
    """Programs name axes, and say what they do, as the others do."""
    programs = [book.program(name) for name in book.program_names]
    return [
        sentence
        for program in programs
        for rule in house.PROGRAM_ADVICE
        for sentence in rule(program)
    ]


def front_door_is_calm(book: house.Book) -> list[str]:
    """README and CONTRIBUTING use no word that the pages do not."""
    found = []
    for name in ("README.md", "CONTRIBUTING.md"):
        path = book.root / name
        if path.exists():
            found += house.banned(path.read_text(encoding="utf-8"), name)
    return found


BOOK_ADVICE = (
    *page_rules.BOOK_ADVICE,
    programs_use_usual_words,
    front_door_is_calm,
    copies_are_short,
    training_is_read_in_one_go,
)


def of_book(book: house.Book, names: list[str] | None = None) -> list[str]:
    """The advice on the pages called `names`, or on all of the book."""
    found = []
    for name in names or book.page_names:
        found += of_page(book.page(name))
    ours = tuple(f"docs/{name}.md:" for name in names or ())
    for rule in BOOK_ADVICE:
        found += [one for one in rule(book) if not names or one.startswith(ours)]
    return found


def main(names: list[str], root: Path = ROOT) -> int:
    """Print the advice and how much there is; return the exit status, which is 0."""
    found = of_book(house.Book(root), names)
    for sentence in found:
        print(sentence)
    pieces = "piece" if len(found) == 1 else "pieces"
    print(f"{len(found)} {pieces} of advice; none has to be followed.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
