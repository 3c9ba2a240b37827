"""Below an exercise stands, folded, which mistakes its `check` tells apart.

They are the `mistake_*` of the exercise, which the tests hand to `check`; what each
says of itself is what a learner was thinking.
"""

from __future__ import annotations

import ast
import re

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx

from book import below, imports
from book.pages import Cell

_CHECK = re.compile(
    r"^from (examples\.exercises\.\w+) import .*\bcheck\b", re.MULTILINE
)


def show(app: Sphinx, doctree: nodes.document) -> None:
    """Put the mistakes below each exercise of a page."""
    state = app.book.state(app.env.docname)
    found = {}
    for cell in state.page.cells if state.page and not state.problems else ():
        if cell.visible and (told := _mistakes(cell, app.book.roots)):
            found[cell.number] = [_folded(told)]
    below.put(doctree, found)


def _mistakes(cell: Cell, roots: tuple) -> list[str]:
    """What each mistake that the exercise of `cell` knows says of itself."""
    match = _CHECK.search(cell.source)
    path = match and imports.find(match[1], roots)
    if not path:
        return []
    tree = imports.parsed(imports.contents(path, roots))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    known = [node for node in functions if node.name.startswith("mistake_")]
    return [
        doc.partition("\n\n")[0] for node in known if (doc := ast.get_docstring(node))
    ]


def _folded(mistakes: list[str]) -> nodes.Node:
    items = (nodes.list_item("", _paragraph(text)) for text in mistakes)
    title = f"{len(mistakes)} mistakes that check recognizes"
    return HideCodeCellNode(
        "",
        nodes.bullet_list("", *items),
        prompt_show=title,
        prompt_hide=title,
        classes=["mistakes", "no-search"],
    )


def _paragraph(text: str) -> nodes.paragraph:
    """A paragraph with code between backticks."""
    parts = re.split(r"`+", " ".join(text.split()))
    made = (
        nodes.literal(part, part) if k % 2 else nodes.Text(part)
        for k, part in enumerate(parts)
    )
    return nodes.paragraph("", "", *made)
