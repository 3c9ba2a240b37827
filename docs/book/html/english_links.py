"""In another language: mark the links to pages that there are in English only."""

from __future__ import annotations

import posixpath

from docutils import nodes
from sphinx.application import Sphinx

from book.state import book_of


def mark(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Give links that lead out of the folder of the language a class: `english`."""
    if app.builder.format != "html" or book_of(app).pages_written is None:
        return
    folder = posixpath.dirname(name)
    for link in doctree.findall(nodes.reference):
        if link.get("internal") and link.get("refuri"):
            place = posixpath.normpath(posixpath.join(folder, link["refuri"]))
            if place.startswith("../"):
                link["classes"].append("english")
