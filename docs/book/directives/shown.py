"""Which pages are read again because what they show of other pages has changed.

Sphinx reads a page again when its own file changes. A page that lists the titles of
other pages, or leads from an error to the page about it, is out of date when those
change. So whatever shows something of the rest of the book asks for it here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from book.page_memory import PageMemory
from book.state import Book, book_of

T = TypeVar("T")
_UNNAMED = re.compile(r"\[\]\(/([\w/.-]+)\.md\)")


class CannotShow(Exception):
    """What a page asks for is not in the book; the text says why."""


@dataclass(frozen=True)
class Shown:
    """What a page showed of the book: how it was made, and a digest of it.

    `make` is a function of a module, so that it can be kept from one build to the next.
    """

    make: Callable[..., object]
    arguments: tuple[object, ...]
    digest: str

    def outdated(self, book: Book) -> bool:
        """Whether it would be another one now, or could not be made."""
        try:
            made = self.make(book, *self.arguments)
        except CannotShow:
            return True
        return _digest(book, made) != self.digest


class ShownCollector(PageMemory[list[Shown]]):
    """What each page showed of the book, from one build to the next."""

    attribute = "book_shown"

    @classmethod
    def show(
        cls,
        env: BuildEnvironment,
        book: Book,
        make: Callable[..., T],
        *arguments: object,
    ) -> T:
        """What `make(book, *arguments)` returns, for the page that is being read.

        Raises `CannotShow` where `make` does.
        """
        digest = ""  # where it cannot be made
        try:
            made = make(book, *arguments)
            digest = _digest(book, made)
        finally:
            shown = Shown(make, arguments, digest)
            cls.known(env).setdefault(env.docname, []).append(shown)
        return made

    def get_outdated_docs(
        self,
        app: Sphinx,
        env: BuildEnvironment,
        added: set[str],
        changed: set[str],
        removed: set[str],
    ) -> list[str]:
        """The pages that show what is not so any more."""
        return sorted(
            name
            for name, several in self.known(env).items()
            if name in env.found_docs
            and any(one.outdated(book_of(app)) for one in several)
        )


def _digest(book: Book, made: object) -> str:
    """A digest of what was made, with the titles that its links without words show."""
    text = repr(made)
    linked = [book.state(name).page for name in _UNNAMED.findall(text)]
    titles = [page.title if page else None for page in linked]
    return hashlib.sha256(repr((text, titles)).encode()).hexdigest()
