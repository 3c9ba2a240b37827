"""The directive `{chapter}`: the pages of a chapter with the minutes they take."""

from __future__ import annotations

from docutils import nodes
from sphinx.locale import _

from book.directives.base import BookDirective
from book.directives.shown import CannotShow
from book.source.chapters import reading_minutes
from book.state import Book


class Chapter(BookDirective):
    """`{chapter}`: titles and minutes of the chapter's pages, or of those named."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write a list of links and let the page's own parser read it."""
        return self.parsed(self.shown(markdown, self.env.docname, *self.content))


def markdown(book: Book, name: str, *named: str) -> str:
    """A numbered list of the pages that are `named`, or of those in `name`'s toctree.

    Raises `CannotShow` where a page is not in the book, and where there is none.
    """
    pages = {page.name: page for page in book.pages()}
    listed = list(named) or pages[name].toctree
    if not listed or not set(listed) <= set(pages):
        raise CannotShow(f"{{chapter}}: {listed} are not all pages of the book")
    said = _("{title}, {count}\N{NO-BREAK SPACE}min")
    lines = (
        said.format(title=f"[](/{one}.md)", count=reading_minutes(pages[one]))
        for one in listed
    )
    return "\n".join(f"1. {line}" for line in lines)
