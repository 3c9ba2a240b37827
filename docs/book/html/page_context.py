"""What a page's template knows of its place: chapter, lesson, minutes, neighbours.

The sidebar, and the links to the page before and after, say the short title that front
matter gives (`short`); the title says it in full on the page itself, in other pages'
links to it, and in the search.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from book.source.chapters import lessons_not_above, page_places


def check(app: Sphinx, env, *_changes: object) -> list[str]:
    """Lessons that need what comes later fail."""
    for problem in lessons_not_above(app.book.pages()):
        app.book.fail(problem)
    return []


def shorten(app: Sphinx, env) -> list[str]:
    """Put the short titles into the sidebar; all pages show it, so all may change."""
    pages = app.book.pages()
    for page in pages:
        links = env.tocs[page.name].findall(nodes.reference) if page.short else ()
        for link in links:
            if not link["anchorname"]:
                link.children = [nodes.Text(page.short)]
                link.children[0].parent = link
    shown = {page.name: (page.short or page.title, page.toctree) for page in pages}
    before, env.book_sidebar = getattr(env, "book_sidebar", None), shown
    places = page_places(pages, app.config.root_doc)
    was, env.book_places = getattr(env, "book_places", {}), places
    if shown != before:
        return sorted(env.found_docs)
    return sorted(n for n in env.found_docs if was.get(n) != places.get(n))


def context(app: Sphinx, name, template, context, doctree) -> None:
    """Hand the template what stands above the title, and the neighbours' names."""
    context["place"] = app.env.book_places.get(name)
    _, *beside = app.builder.relations.get(name, (None, None, None))
    for which, other in zip(("prev", "next"), beside, strict=True):
        page = other and app.book.state(other).page
        if context.get(which) and page and page.short:
            context[which] = {**context[which], "title": page.short}
