"""What of a page is translated beside its prose: titles, questions, words of figures.

Sphinx finds the prose of a page, and translates it as it reads the page.  These texts
stand elsewhere: in front matter, in the options of cells, and in figures, which are
outputs.  `offer` puts them before the builder that writes catalogues; `translate_page`
and `translate_figures` put the translations in their places.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape, unescape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book.source.model import Page
from book.state import book_of

Translate = Callable[[str], str]
_PROMPTS = ("code_prompt_show", "code_prompt_hide")
_PAINTED = re.compile(r"(<(text|title)\b[^>]*>)([^<]*)(?=</\2>)")
_SEVERAL_WORDS = re.compile(r"[A-Za-z]{2,}.* .*[A-Za-z]{2,}", re.DOTALL)


def offer(app: Sphinx, doctree: nodes.document) -> None:
    """Add the texts of a page to its end, for the builder that writes catalogues."""
    if app.builder.name != "gettext":
        return
    state = book_of(app).state(app.env.docname)
    if state.page is None:
        return
    outputs = state.entry.outputs if state.entry else []
    for text in dict.fromkeys([*page_texts(state.page), *figure_texts(outputs)]):
        paragraph = nodes.paragraph(text, text)
        paragraph.source, paragraph.line = str(state.page.path), 0
        doctree += paragraph


def page_texts(page: Page) -> list[str]:
    """The title in the sidebar, the questions, and the names of folded cells."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(" ".join(text.split()))
        return text

    translate_page(replace(page, headings=()), note)  # Sphinx finds the headings
    return found


def translate_page(page: Page, translate: Translate) -> Page:
    """The page with its titles, questions and names of folded cells translated."""
    cells = []
    for cell in page.cells:
        prompts = {k: translate(v) for k, v in cell.mystnb.items() if k in _PROMPTS}
        cells.append(replace(cell, mystnb=cell.mystnb | prompts))
    return replace(
        page,
        short=translate(page.short) if page.short else page.short,
        headings=tuple(replace(h, text=translate(h.text)) for h in page.headings),
        answers=tuple(replace(a, question=translate(a.question)) for a in page.answers),
        cells=tuple(cells),
    )


def figure_texts(outputs: list[list[dict[str, Any]]]) -> list[str]:
    """The sentences in the figures of a page, their text alternatives among them."""
    pictures = (text for one in outputs for _, text in _pictures(one))
    return [
        unescape(match[3])
        for text in pictures
        for match in _PAINTED.finditer(text)
        if _is_sentence(unescape(match[3]))
    ]


def translate_figures(
    outputs: list[dict[str, Any]], translate: Translate
) -> list[dict[str, Any]]:
    """The outputs of a cell with the sentences in figures translated."""

    def put(match: re.Match[str]) -> str:
        text = unescape(match[3])
        return match[1] + escape(translate(text) if _is_sentence(text) else text)

    made = copy.deepcopy(outputs)
    for data, text in _pictures(made):
        data["text/html"] = _PAINTED.sub(put, text)
    return made


def _pictures(outputs: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """The data of each output that is a figure, and its HTML."""
    for output in outputs:
        data = output.get("data", {})
        text = data.get("text/html", "")
        text = text if isinstance(text, str) else "".join(text)
        if "<svg" in text:
            yield data, text


def _is_sentence(text: str) -> bool:
    """Whether a text in a figure is made of words, and is no code or number."""
    if not _SEVERAL_WORDS.search(text):
        return False
    try:
        [statement] = ast.parse(text).body
    except (SyntaxError, ValueError):
        return True
    return isinstance(statement, ast.AnnAssign)  # "vmap: scores" is no code
