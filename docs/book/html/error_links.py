"""Below an error that a page raises, a link leads to the page of `errors/` about it.

A page of `errors/` says in its front matter which words a message has (`raised`). Where
another page raises an error of that type, with these words in this order, the reader is
shown the way to its other causes; if several fit, to the page that names most words.
A message of one or two words, such as `KeyError: 'data'`, has to be there in full.
"""

from __future__ import annotations

import re
from functools import cache

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.locale import _

from book.directives.shown import ShownCollector
from book.html.release_diff import messages
from book.source.model import Page
from book.state import Book, PageState, book_of

SHELF = "errors/"
APART = re.compile(r" / |; ")  # between the messages that one page is about


def below_cells(
    app: Sphinx, state: PageState, page: Page
) -> dict[int, list[nodes.Node]]:
    """A link below each cell that raises what another page is about."""
    found = ShownCollector.show(app.env, book_of(app), pages_about, page.name)
    return {number: [_link(name, page.name)] for number, name in found.items()}


def pages_about(book: Book, name: str) -> dict[int, str]:
    """The page that each cell of the page `name` leads to, by the cell's number."""
    found = {}
    if not name.startswith(SHELF):
        about = [page for page in book.pages() if page.error]
        for number, message in messages(book.state(name)).items():
            if page := page_about(message, about):
                found[number] = page.name
    return found


def page_about(message: str, about: list[Page]) -> Page | None:
    """The page whose words `message` has, and that names most of it."""
    kind, _, text = message.partition(":")
    said, best, most = words(text), None, 2  # fewer words are everywhere
    for page in about:
        for one in APART.split(page.error.words if page.error else ""):
            page_kind, _, page_text = one.partition(":")
            named = words(page_text)
            fits = named == said or (len(named) > most and in_order(named, said))
            if page_kind == kind and fits:
                best, most = page, len(named)
    return best


@cache
def words(text: str) -> tuple[str, ...]:
    """The words of a text, in lower case; a number is a reader's own."""
    return tuple(re.findall(r"\b(?!\d+\b)\w+", text.lower()))


def in_order(wanted: tuple[str, ...], there: tuple[str, ...]) -> bool:
    """Whether all that is wanted is there, in this order, other words between."""
    rest = iter(there)
    return all(word in rest for word in wanted)


def _link(to: str, name: str) -> nodes.paragraph:
    """A paragraph that leads from the page `name` to the page `to`, by its title."""
    options = {"refdomain": "std", "reftype": "doc", "refexplicit": False}
    link = addnodes.pending_xref("", nodes.inline(), reftarget=f"/{to}", **options)
    link["refdoc"] = name
    said = _("Every cause of this message: ")
    return nodes.paragraph("", said, link, classes=["causes", "no-search"])
