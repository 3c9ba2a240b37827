"""`{questions} vmap`: what readers ask of the pages of a folder, each a link.

A question stands in the front matter of the page that answers it (`answers:`), in other
words than the page's own.  The search finds that page by them, not this list.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from book.source.model import Page


class Questions(SphinxDirective):
    """The questions of each page in the folder, in the order of the contents."""

    required_arguments = 1
    app: Sphinx

    def run(self) -> list[nodes.Node]:
        """Write a list of links and let the page's own parser read it."""
        folder = self.arguments[0]
        text = text_of(self.app.book.pages(), folder)
        if not text:
            raise self.error(f"no page in {folder}/ has `answers`")
        read = self.parse_text_to_nodes(text, offset=self.content_offset)
        return [nodes.container("", *read, classes=["no-search"])]


def text_of(pages: list[Page], folder: str) -> str:
    """The questions of a folder, in Markdown; nothing where none are asked."""
    asked = [page for page in in_order(pages) if page.answers]
    return "".join(listed(p) for p in asked if p.name.split("/")[0] == folder)


def in_order(pages: list[Page]) -> list[Page]:
    """The pages as the tables of contents name them; first those that none names."""
    order = [name for page in pages for name in page.toctree]
    return sorted(pages, key=lambda p: order.index(p.name) if p.name in order else -1)


def listed(page: Page) -> str:
    """The page's title, and below it its questions as links, in Markdown."""
    lines = [f"[](/{page.name}.md)", ""]
    for answer in page.answers:
        words = answer.question.replace("[", r"\[").replace("]", r"\]")
        lines.append(f"- [{words}](/{page.name}.md#{answer.at})")
    return "\n".join([*lines, "", ""])


def again(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """A page that lists questions is read again when one of them has changed."""
    pages = app.book.pages()
    asked = [(page.name, page.answers) for page in in_order(pages)]
    before, env.book_asked = getattr(env, "book_asked", None), asked
    lists = [p.name for p in pages if any(f.name == "questions" for f in p.fences)]
    return [] if asked == before else lists
