"""What the template of a page is told: its place in the book, and where it ran.

The sidebar, and the links to the page before and after, say the short title that front
matter gives (`short`); the title says it in full on the page itself, in other pages'
links to it, and in the search.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from book.directives import build_table
from book.html import release_diff
from book.source.chapters import lessons_not_above, page_places
from book.source.model import Page
from book.state import Book, book_of

Context = dict[str, Any]


def check_lessons(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Lessons that need what comes later fail."""
    for problem in lessons_not_above(book_of(app).pages()):
        book_of(app).fail(problem)
    return []


def update(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Work out what the templates are told; name the pages for which that is new.

    These are written again even where nothing else on them has changed.  Every page
    shows the sidebar, and is made with the same templates.
    """
    pages = book_of(app).pages()
    _shorten_sidebar(env, pages)
    sidebar = {page.name: (page.short or page.title, page.toctree) for page in pages}
    everywhere = sidebar, _templates(app)
    contexts = _contexts(book_of(app), app.config.root_doc)
    everywhere_before, before = getattr(env, "book_contexts", (None, {}))
    env.book_contexts = everywhere, contexts
    return sorted(
        name
        for name in env.found_docs
        if everywhere != everywhere_before or contexts.get(name) != before.get(name)
    )


def _templates(app: Sphinx) -> str:
    """A digest of the book's own templates; Sphinx looks at their times only."""
    folders = (Path(app.confdir, folder) for folder in app.config.templates_path)
    files = sorted(path for one in folders for path in one.rglob("*") if path.is_file())
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def _shorten_sidebar(env: BuildEnvironment, pages: list[Page]) -> None:
    """Put the short titles into the tables of contents that the sidebar is made of."""
    for page in pages:
        if not page.short:
            continue
        for link in env.tocs[page.name].findall(nodes.reference):
            if not link["anchorname"]:  # it leads to the page, not to a section
                link.children = []
                link += nodes.Text(page.short)


def _contexts(book: Book, root: str) -> dict[str, Context]:
    """What the template of each page is told, by the page's name."""
    pages = book.pages()
    places, records = page_places(pages, root), build_table.page_of_records(pages)
    found = {}
    for name, state in book.states.items():
        row = "" if state.problems else f"#{build_table.row_address(name)}"
        found[name] = {
            "place": places.get(name),
            "provenance": build_table.last_line(book, state),
            "other_releases": release_diff.sentence(
                release_diff.other_messages(book, name)
            ),
            "record_page": records,
            "record_row": row,
        }
    return found


def context(
    app: Sphinx,
    name: str,
    template: str,
    context: Context,
    doctree: nodes.document | None,
) -> None:
    """Hand the template what it is told of a page, and the neighbours' short titles."""
    _, contexts = app.env.book_contexts
    context.update(contexts.get(name, {}))
    _, *beside = app.builder.relations.get(name, (None, None, None))
    for which, other in zip(("prev", "next"), beside, strict=True):
        page = book_of(app).state(other).page if other else None
        if context.get(which) and page and page.short:
            context[which] = {**context[which], "title": page.short}
