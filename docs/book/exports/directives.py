"""What the book's own directives list, as plain Markdown for a page's twin.

On the site Sphinx makes them; here are the same words, with links among the twins.
"""

from __future__ import annotations

import posixpath
import re

from book.directives import build_table, chapter, error_index, questions
from book.directives.shown import CannotShow
from book.exports.prose import Says
from book.source.page import Page
from book.state import Book

_UNNAMED = re.compile(r"\[\]\(/([\w/.-]+?)\.md\)")
_FROM_ROOT = re.compile(r"\]\(/([\w/.-]+?\.md(?:#[^()\s]*)?)\)")


def by(book: Book, root: str, page: Page) -> Says:
    """What says, on `page`, the Markdown of a directive: its name, argument and body.

    It says nothing of others.  `root` is the book's first page.
    """
    known = {one.name: one for one in book.pages()}

    def record(book: Book, what: str) -> str:
        if what == build_table.SUMMARY:
            return build_table.summary(book)
        return build_table.tables(book, root)[0]

    def says(name: str, argument: str, body: list[str]) -> str:
        try:
            if name == "chapter":
                made = chapter.markdown(book, page.name, *filter(None, body))
            elif make := {
                "questions": questions.markdown,
                "messages": error_index.markdown,
                "record": record,
            }.get(name):
                made = make(book, argument)
            else:
                return ""
        except (LookupError, CannotShow):
            return ""  # the page itself failed, and says why
        return linked(made, page, known)

    return says


def linked(text: str, page: Page, known: dict[str, Page]) -> str:
    """The links of `text` with titles, and from where `page` is."""
    folder = posixpath.dirname(page.name)

    def titled(match: re.Match) -> str:
        return f"[{known[match[1]].title}](/{match[1]}.md)"

    def beside(match: re.Match) -> str:
        return f"]({posixpath.relpath(match[1], folder or '.')})"

    return _FROM_ROOT.sub(beside, _UNNAMED.sub(titled, text)).strip()
