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

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors import EnvironmentCollector

from book.state import Book

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


class ShownCollector(EnvironmentCollector):
    """What each page showed of the book, from one build to the next."""

    @staticmethod
    def show(
        env: BuildEnvironment, book: Book, make: Callable[..., T], *arguments: object
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
            _all_shown(env).setdefault(env.docname, []).append(shown)
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
            for name, several in _all_shown(env).items()
            if name in env.found_docs and any(one.outdated(app.book) for one in several)
        )

    def clear_doc(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Forget what a page showed: it is gone, or read anew."""
        _all_shown(env).pop(docname, None)

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Nothing: what a page shows is remembered when it asks for it."""

    def merge_other(
        self,
        app: Sphinx,
        env: BuildEnvironment,
        docnames: set[str],
        other: BuildEnvironment,
    ) -> None:
        """Take over what was shown on pages that another process has read."""
        known = _all_shown(other)
        _all_shown(env).update({n: known[n] for n in docnames if n in known})


def _all_shown(env: BuildEnvironment) -> dict[str, list[Shown]]:
    """What each page showed, by its name."""
    if not hasattr(env, "book_shown"):
        env.book_shown = {}
    return env.book_shown


def _digest(book: Book, made: object) -> str:
    """A digest of what was made, with the titles that its links without words show."""
    text = repr(made)
    linked = [book.state(name).page for name in _UNNAMED.findall(text)]
    titles = [page.title if page else None for page in linked]
    return hashlib.sha256(repr((text, titles)).encode()).hexdigest()
