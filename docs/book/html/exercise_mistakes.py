"""Lists below an exercise, folded, the mistakes that its `check` recognizes.

They are the `mistake_*` of the exercise, which the tests hand to `check`; what each
says of itself tells a learner what went wrong.  `said.json`, beside the exercises, has
what `check` then says, so that a reader who reads that finds the mistake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _

from book.html.folding import fold
from book.source import dependencies
from book.source.exercises import mistakes
from book.source.model import Page
from book.state import PageState, book_of

_LONGEST = 200  # characters of what `check` says


def below_cells(
    app: Sphinx, state: PageState, page: Page
) -> dict[int, list[nodes.Node]]:
    """The mistakes below each cell that imports the `check` of an exercise."""
    roots, found = book_of(app).roots, {}
    for cell in page.cells:
        module = f"examples.exercises.{cell.exercise}"
        path = dependencies.find_module(module, roots) if cell.exercise else None
        if path is None:
            continue
        app.env.note_dependency(str(_said_json(path)))
        if known := _mistakes(dependencies.read_module(path, roots), path):
            words = book_of(app).translate(page.name)
            found[cell.number] = [_folded(known, page, words)]
    return found


def _said_json(path: Path) -> Path:
    """Where what `check` of the exercise at `path` says is kept."""
    return path.with_name("said.json")


def _mistakes(source: str, path: Path) -> list[tuple[str, str]]:
    """What each mistake of the exercise at `path` says of itself, and `check` of it."""
    said = {}
    if _said_json(path).is_file():
        every = json.loads(_said_json(path).read_text(encoding="utf-8"))
        said = every.get(path.stem, {})
    known = mistakes(source).items()
    return [(thought, said.get(name, "")) for name, thought in known if thought]


def _folded(
    known: list[tuple[str, str]], page: Page, translate: Callable[[str], str]
) -> nodes.Node:
    """A folded list of the mistakes that the exercise on `page` tells apart."""
    items = []
    for thought, said in known:
        paragraph = _paragraph(translate(thought))
        # For the builder that writes catalogues.
        paragraph.rawsource, paragraph.source = (
            " ".join(thought.split()),
            str(page.path),
        )
        item = nodes.list_item("", paragraph)
        if said:  # the beginning of it is enough to find it by
            text = _("check says: {message}").format(
                message=shorten(said, _LONGEST, placeholder=" …")
            )
            item += nodes.paragraph("", text, classes=["says"])
        items.append(item)
    title = _("{count} mistakes that check recognizes").format(count=len(known))
    listed = nodes.bullet_list("", *items)
    return fold(title, listed, classes=["mistakes", "no-search"])


def _paragraph(text: str) -> nodes.paragraph:
    """A paragraph with code between backticks."""
    made = nodes.paragraph("", "")
    for number, part in enumerate(re.split(r"`+", text)):
        made += nodes.literal(part, part) if number % 2 else nodes.Text(part)
    return made
