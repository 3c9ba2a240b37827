"""The directive `{chapter}`: the pages of a chapter with the minutes they take."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.source.chapters import reading_minutes
from book.source.model import Page


class Chapter(SphinxDirective):
    """`{chapter}`: titles and minutes of the chapter's pages, or of those named."""

    has_content = True
    app: Sphinx

    def run(self) -> list[nodes.Node]:
        """Write a list of links and let the page's own parser read it."""
        pages = {page.name: page for page in self.app.book.pages()}
        named = [*self.content] or pages[self.env.docname].toctree
        if not named or not set(named) <= set(pages):
            raise self.error(f"{{chapter}}: {named} are not all pages of the book")
        text = text_of([*pages.values()], named)
        return self.parse_text_to_nodes(text, offset=self.content_offset)


def text_of(pages: list[Page], named: list[str]) -> str:
    """The list of the pages that are `named`, in Markdown."""
    known = {page.name: page for page in pages}
    return "\n".join(listed(known[name]) for name in named)


def listed(page: Page) -> str:
    """A line of a numbered list, which leads to the page."""
    return f"1. [](/{page.name}.md), {reading_minutes(page)}\N{NO-BREAK SPACE}min"


def again(app: Sphinx, env, *_changes: object) -> list[str]:
    """Lists of a chapter's pages are read again when a title or a length changes."""
    pages = app.book.pages()
    listed = [(page.name, page.title, reading_minutes(page)) for page in pages]
    before, env.book_listed = getattr(env, "book_listed", None), listed
    lists = [p.name for p in pages if any(f.name == "chapter" for f in p.fences)]
    return [] if listed == before else lists
