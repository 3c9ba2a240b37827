"""Hands each page to MyST-NB as a notebook that has already been executed.

MyST-NB reads notebooks, and runs none here (`nb_execution_mode`).  So the Markdown of a
page is replaced, as Sphinx reads it, by a notebook with the outputs that this build has
for it; `nb_custom_formats` in conf.py tells MyST-NB that pages are notebooks.
"""

from __future__ import annotations

import json
from typing import Any

from sphinx.application import Sphinx

from book.source.model import Cell
from book.source.translatable import Translate, translate_figures
from book.state import PageState, book_of

# Front matter that is for the engine alone.
_OURS = ("kernelspec", "book", "answers", "error")


def replace_source(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the notebook of the page called `name`, as JSON, in the place of its text."""
    if app.env.doc2path(name).suffix == ".md":
        book = book_of(app)
        notebook = _notebook(book.state(name), book.translate(name))
        source[0] = json.dumps(notebook, default=str)  # YAML has dates, JSON has none


def _notebook(state: PageState, translate: Translate) -> dict[str, Any]:
    page, entry = state.page, state.entry
    if not page:  # reported by then, with its line; Sphinx goes on
        text = "# A page that could not be read"
        return _format([_text(text)], {"source_map": [0], "orphan": True})
    cells, lines = [], []
    for part in page.text_and_cells():
        if isinstance(part, Cell):
            outputs = entry.outputs[part.number - 1] if entry else []
            outputs = translate_figures(outputs, translate)
            cells.append(_code(part, outputs))
            lines.append(part.span[0])
        else:
            line, text = part
            cells.append(_text(text))
            lines.append(line)
    metadata = {k: v for k, v in page.front.items() if k not in _OURS}
    metadata["source_map"] = lines
    metadata["language_info"] = {"name": "python", "pygments_lexer": "python"}
    return _format(cells, metadata)


def _format(cells: list[dict[str, Any]], metadata: dict[str, Any]) -> dict[str, Any]:
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}


def _text(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": text, "metadata": {}}


def _code(cell: Cell, outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """A cell with its outputs; its metadata are what the rendering knows of it."""
    tags = sorted(cell.tags)
    if cell.raises:
        tags.append("raises")
    metadata: dict[str, Any] = {"number": cell.number, "tags": tags}
    if cell.check:
        metadata["check"] = cell.assertions
    if cell.fresh:
        metadata["fresh"] = True
    if cell.mystnb:
        metadata["mystnb"] = cell.mystnb
    return {
        "cell_type": "code",
        "source": cell.source,
        "outputs": outputs,
        "metadata": metadata,
        "execution_count": None,
    }
