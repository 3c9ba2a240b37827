"""Below an error that a page raises, a link leads to the page of the shelf about it.

A page of `errors/` says in its front matter which words a message has (`raised`). Where
another page raises an error of that type, with these words in this order, the reader is
shown the way to its other causes; if several fit, to the page that names most words.
A message of one or two words, such as `KeyError: 'data'`, has to be there whole.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from book.html import below
from book.html.release_diff import raising
from book.source.model import Page

SHELF = "errors/"
APART = re.compile(r" / |; ")  # between the messages that one page is about


def refer(app: Sphinx, doctree: nodes.document) -> None:
    """Put the links below the cells that raise."""
    name = app.env.docname
    state = app.book.state(name)
    if not state.entry or state.problems or name.startswith(SHELF):
        return
    about = [page for page in app.book.pages() if page.error]
    led = {}
    for cell in raising(state.page):
        said = state.entry.outputs[cell.number - 1][-1].get("text", "")
        if found := page_about(said, about):
            led[cell.number] = [_link(found.name, name)]
    below.put(doctree, led)


def page_about(said: str, about: list[Page]) -> Page | None:
    """The page whose words the message `said` has, and that names most of it."""
    kind, _, message = said.partition(":")
    heard, best, most = words(message), None, 2  # fewer words are everywhere
    for page in about:
        for one in APART.split(page.error.words):
            type_, _, text = one.partition(":")
            named = words(text)
            fits = named == heard or (len(named) > most and in_order(named, heard))
            if type_ == kind and fits:
                best, most = page, len(named)
    return best


def words(text: str) -> list[str]:
    """The words of a text, in lower case; a number is a reader's own."""
    return re.findall(r"\b(?!\d+\b)\w+", text.lower())


def in_order(wanted: list[str], there: list[str]) -> bool:
    """Whether all that is wanted is there, in this order, other words between."""
    rest = iter(there)
    return all(word in rest for word in wanted)


def _link(to: str, name: str) -> nodes.paragraph:
    """A paragraph that leads from the page `name` to the page `to`, by its title."""
    options = {"refdomain": "std", "reftype": "doc", "refexplicit": False}
    link = addnodes.pending_xref("", nodes.inline(), reftarget=f"/{to}", **options)
    link["refdoc"] = name
    return nodes.paragraph(
        "", "Every cause of this message: ", link, classes=["causes", "no-search"]
    )


def again(pages: list[Page]) -> list[str]:
    """The pages that raise something, and not on the shelf."""
    return [p.name for p in pages if raising(p) and not p.name.startswith(SHELF)]
