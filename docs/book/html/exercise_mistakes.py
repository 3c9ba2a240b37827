"""Below an exercise stands, folded, which mistakes its `check` tells apart.

They are the `mistake_*` of the exercise, which the tests hand to `check`; what each
says of itself tells a learner what went wrong.  `said.json`, beside the exercises, has
what `check` then says, so that a reader who reads that finds the mistake.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from textwrap import shorten

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx

from book.html import below
from book.source import dependencies

_CHECK = re.compile(
    r"^from (examples\.exercises\.\w+) import .*\bcheck\b", re.MULTILINE
)

_NAME = "mistake_"
_LONG = 200  # signs


def show(app: Sphinx, doctree: nodes.document) -> None:
    """Put the mistakes below each exercise of a page."""
    state = app.book.state(app.env.docname)
    found = {}
    for cell in state.page.cells if state.page and not state.problems else ():
        match = _CHECK.search(cell.source) if cell.visible else None
        if match and (path := dependencies.find_module(match[1], app.book.roots)):
            app.env.note_dependency(str(_kept(path)))
            tree = dependencies.parse(dependencies.read_module(path, app.book.roots))
            if told := _mistakes(tree, path):
                found[cell.number] = [_folded(told)]
    below.put(doctree, found)


def _kept(path: Path) -> Path:
    return path.with_name("said.json")


def _mistakes(tree: ast.Module, path: Path) -> list[tuple[str, str]]:
    """What each mistake of the exercise at `path` says of itself, and `check` of it."""
    there = _kept(path).is_file()
    kept = json.loads(_kept(path).read_text(encoding="utf-8")) if there else {}
    said = kept.get(path.stem, {})
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [
        (doc.partition("\n\n")[0], said.get(node.name.removeprefix(_NAME), ""))
        for node in functions
        if node.name.startswith(_NAME) and (doc := ast.get_docstring(node))
    ]


def _folded(mistakes: list[tuple[str, str]]) -> nodes.Node:
    items = (
        nodes.list_item("", _paragraph(thought), *_says(said))
        for thought, said in mistakes
    )
    title = f"{len(mistakes)} mistakes that check recognizes"
    return HideCodeCellNode(
        "",
        nodes.bullet_list("", *items),
        prompt_show=title,
        prompt_hide=title,
        classes=["mistakes", "no-search"],
    )


def _says(said: str) -> list[nodes.Node]:
    """What `check` says, of which a page needs the beginning; `play.js` reads it."""
    text = f"check says: {shorten(said, _LONG, placeholder=' …')}"
    return [nodes.paragraph("", text, classes=["says"])] * bool(said)


def _paragraph(text: str) -> nodes.paragraph:
    """A paragraph with code between backticks."""
    parts = re.split(r"`+", " ".join(text.split()))
    made = (
        nodes.literal(part, part) if k % 2 else nodes.Text(part)
        for k, part in enumerate(parts)
    )
    return nodes.paragraph("", "", *made)
