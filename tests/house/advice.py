"""Advice on pages and programs, which nobody has to follow: `nox -s advice`.

    python -m tests.house.advice
    python -m tests.house.advice vmap/axes learn/one_example

prints where a page or a program is longer than most, is not built as most are, says
what another page says in the same words, uses a word that the others do not, or leaves
one of the glossary unlinked.  It never fails.
"""

from __future__ import annotations

import sys
from pathlib import Path

from book.source.model import Page
from tests.house.book import Book
from tests.house.rules import BOOK_ADVICE, advice_of

ROOT = Path(__file__).parents[2]


def of_page(page: Page) -> list[str]:
    """The advice on a page; what only a page that teaches is told is not for others."""
    return [one for rule in advice_of(page) for one in rule(page)]


def of_book(book: Book, names: list[str] | None = None) -> list[str]:
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
    found = of_book(Book(root), names)
    for sentence in found:
        print(sentence)
    pieces = "piece" if len(found) == 1 else "pieces"
    print(f"{len(found)} {pieces} of advice; none has to be followed.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
