"""The `<meta>` tags of a page: what results of searches and shared links say of it.

The description is the lead, in whole sentences.  The canonical address, and that of the
picture of the book, need to know where the book is published: `html_baseurl`.

`{% block extrahead %}` of the layout writes the tags; the canonical link is Sphinx's.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _

from book.state import book_of

CARD = "_static/card.png"  # made of card.svg, for social sites take no SVG
LONGEST = 200  # of a description: what results of searches show is not longer
_VIEWPORT = re.compile(r'<meta name="viewport"[^>]*>')  # docutils'; the layout has it
_END = re.compile(r"(?<=[.?!:]) (?=\W?[A-Z\d])|(?<=[。？！：])|$")


def context(
    app: Sphinx,
    name: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Hand the template what the page says of itself."""
    context["metatags"] = _VIEWPORT.sub("", context.get("metatags", ""))
    if name == "search":
        context["title"] = _("Search")
        said = _("Search {book}: words, or a message.")
        context["description"] = said.format(book=app.config.project)
    context["theme_search_bar_text"] = _("Search...")
    if doctree is None:
        return
    context["description"] = description(doctree)
    if app.config.html_baseurl:
        context["card"] = urljoin(app.config.html_baseurl, CARD)


def description(doctree: nodes.document) -> str:
    """As many sentences of the lead as fit, but one at least."""
    lead = next(iter(doctree.findall(_is_lead)), None)
    text = " ".join(lead.astext().split()) if lead else ""
    first, *others = [end.start() for end in _END.finditer(text)]
    return text[: max([first, *(end for end in others if end <= LONGEST)])]


def _is_lead(node: nodes.Node) -> bool:
    return isinstance(node, nodes.paragraph) and isinstance(node.parent, nodes.section)


def not_found(app: Sphinx) -> list[tuple[str, dict, str]]:
    """The page for an address that there is none at; its links begin at the root.

    A server shows it in place of a page at any depth, so relative links would lead
    elsewhere: `<base>` says where they begin, as soon as `html_baseurl` is known.
    """
    if book_of(app).pages_written is not None:
        return []  # a server shows the English one
    path = urlsplit(app.config.html_baseurl or "").path
    found = {
        "title": _("Page not found"),
        "description": _("There is no page here: search."),
        "base": path,
    }
    return [("404", found, "404.html")]
