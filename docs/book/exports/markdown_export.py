"""Each page as plain Markdown with its outputs, and a list of all: `llms.txt`.

They are for programs that read the book, and for readers without a browser: lessons
with what they print, no checks, and of a figure what a screen reader says of it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from book.exports.markdown_writer import MarkdownWriter
from book.files import write_changed_remove_rest
from book.source.chapters import plain_title, table_of_contents
from book.source.model import Page
from book.state import book_of

END, INDEX = ".md", "llms.txt"


def to_markdown(document: nodes.document, link: Callable[[str], str]) -> str:
    """The text of a page, its cells, and their outputs below them."""
    parts = MarkdownWriter(link).parts(document)
    return "\n\n".join(part.text for part in parts if part.text) + "\n"


def links(env: BuildEnvironment, name: str) -> Callable[[str], str]:
    """What turns links from the HTML of the page `name` into links from its Markdown.

    They lead to the Markdown of other pages, and to headings by the anchors that
    Markdown gives them, which keep underscores where the HTML has hyphens.
    """

    def link(address: str) -> str:
        target, _, anchor = address.partition("#")
        page = posixpath.join(posixpath.dirname(name), target.removesuffix(".html"))
        page = posixpath.normpath(page) if target else name
        page = page.removeprefix("../")  # of the book in English
        slugs = env.metadata[page].get("myst_slugs", {}).items()
        anchors = {identifier: slug for slug, (_, identifier, *_) in slugs}
        target = re.sub(r"\.html$", END, target)
        return f"{target}#{anchors.get(anchor, anchor)}" if anchor else target

    return link


def index(pages: dict[str, Page], root: str, title: str) -> str:
    """The list of all pages, by chapters, in the order of the book."""
    lines = [f"# {title}", ""]
    for chapter, inside in table_of_contents([*pages.values()], root):
        if chapter.name != root:
            lines += ["", f"## {chapter.short or chapter.title}", ""]
        lines += [f"- [{plain_title(page.title)}]({page.name}{END})" for page in inside]
    return "\n".join(lines) + "\n"


def write_page(
    app: Sphinx,
    name: str,
    template: str,
    context: dict[str, object],
    document: nodes.document | None,
) -> None:
    """Write the Markdown of a page when its HTML is written."""
    if document is not None:
        text = to_markdown(document, links(app.env, name))
        write_changed_remove_rest([], {Path(app.outdir, name + END): text})


def write_index(app: Sphinx) -> None:
    """Write the list of all pages."""
    pages = {s.name: s.page for s in book_of(app).written() if s.page}
    text = index(pages, app.config.root_doc, app.config.project)
    write_changed_remove_rest([], {Path(app.outdir, INDEX): text})
