"""What every directive of the book has in common: it knows the book that is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.directives.shown import CannotShow, ShownCollector
from book.state import Book, book_of

T = TypeVar("T")
_BOOK = "book"  # the key under which the document being read knows the book


def lend_book(app: Sphinx, _name: str, _text: list[str]) -> None:
    """Let the directives of the page that is about to be read know the book."""
    app.env.current_document[_BOOK] = book_of(app)


class BookDirective(SphinxDirective):
    """A directive that shows something of the book, written in Markdown."""

    @property
    def book(self) -> Book:
        """The book that is built."""
        return self.env.current_document[_BOOK]

    def shown(self, make: Callable[..., T], *arguments: object) -> T:
        """What `make(book, *arguments)` returns; a later build notices if it changes.

        A `CannotShow` becomes an error of the page, in the line of the directive.
        """
        try:
            return ShownCollector.show(self.env, self.book, make, *arguments)
        except CannotShow as error:
            raise self.error(str(error)) from None

    def parsed(self, text: str) -> list[nodes.Node]:
        """What the page's own parser makes of `text`.

        It is made by each build, so the catalogues of translators do not have it.
        """
        made = self.parse_text_to_nodes(text, offset=self.content_offset)
        for node in (one for part in made for one in part.findall(nodes.TextElement)):
            if not isinstance(node, nodes.Inline):
                node["translatable"] = False
        return made
