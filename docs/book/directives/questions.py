"""`{questions} vmap`: what readers ask of the pages of a folder, each a link.

A question stands in the front matter of the page that answers it (`answers:`), in other
words than the page's own.  The search finds that page by them, not this list.
"""

from __future__ import annotations

from docutils import nodes

from book.compilers.tables import plain
from book.directives.base import BookDirective
from book.directives.shown import CannotShow
from book.source.model import Page
from book.state import Book


class Questions(BookDirective):
    """The questions of each page in the folder, in the order of the contents."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write a list of links and let the page's own parser read it."""
        [folder] = self.arguments
        listed = self.parsed(self.shown(markdown, folder))
        return [nodes.container("", *listed, classes=["no-search"])]


def markdown(book: Book, folder: str) -> str:
    """The questions of a folder, page by page; raises `CannotShow` if none."""
    pages = book.pages()
    order = [name for page in pages for name in page.toctree]
    asked = [p for p in pages if p.answers and p.name.split("/")[0] == folder]
    # Pages that no table of contents names come first.
    asked.sort(key=lambda p: order.index(p.name) if p.name in order else -1)
    if not asked:
        raise CannotShow(f"no page in {folder}/ has `answers`")
    return "".join(map(_questions, asked))


def _questions(page: Page) -> str:
    """The page's title, and below it its questions as links."""
    lines = [f"[](/{page.name}.md)", ""]
    for answer in page.answers:
        lines.append(f"- [{plain(answer.question)}](/{page.name}.md#{answer.at})")
    return "\n".join([*lines, "", ""])
