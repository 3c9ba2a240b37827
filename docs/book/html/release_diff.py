"""What a page shows in other words on another JAX release stands folded below it.

A build knows what the cells of its own JAX show.  `nox -s outputs` keeps that, as
`docs/evidence/outputs/JAX.json`:

    page -> code of the cell -> its text, as the book shows it

and so each build can show what the others said, where the words differ, and can tell
how far its own are from those that were kept.  The code of a cell stands for all that
a reader sees of the page down to it: what another JAX said of other code is not shown.
Neither numbers are compared nor what a cell that measures shows.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ext import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.util import logging

from book.files import write_atomically
from book.html import below
from book.source.model import Cell, Page

logger = logging.getLogger(__name__)
FOLDER = "evidence/outputs"
Outputs = dict[str, dict[str, str]]  # page -> code -> text
Other = dict[int, dict[str, list[str]]]  # cell -> text -> the JAX releases that say so
_APART = re.compile(r"https?://\S+|0x[0-9a-f]+|[\d\W_]+")


def code(page: Page, cell: Cell) -> str:
    """What stands for the code of `page` down to `cell`, checks apart."""
    above = [c.source for c in page.cells if c.number <= cell.number and not c.check]
    return hashlib.sha256("\0".join(above).encode()).hexdigest()[:12]


def raising(page: Page) -> list[Cell]:
    """The cells of `page` that show a message."""
    return [cell for cell in page.cells if cell.raises and not cell.check]


def of_page(state) -> dict[int, str]:
    """What the cells of a page show: a `book.build.PageState` after it has run."""
    if not state.entry or state.problems:
        return {}
    shown = (c for c in state.page.cells if c.visible and not c.alone)
    texts = {c.number: _text(c, state.entry.outputs[c.number - 1]) for c in shown}
    return {number: text for number, text in texts.items() if text}


def _text(cell: Cell, outputs: list[dict]) -> str:
    """The text of a cell, or its message; of figures none."""
    texts = []
    for one in outputs[-1:] if cell.raises else outputs:
        data = one.get("data", {})
        plain = data.get("text/plain", "") if data.keys() == {"text/plain"} else ""
        texts.append("".join(one.get("text", plain)))
    return "".join(texts).rstrip()


def sentence(other: Other) -> str:
    """How many outputs of a page are other ones elsewhere; nothing if none is."""
    releases = {r for texts in other.values() for rs in texts.values() for r in rs}
    count = "one output has" if len(other) == 1 else f"{len(other)} outputs have"
    return f"On JAX {' and '.join(sorted(releases))} {count} other words." * bool(other)


def said(book) -> Outputs:
    """What the pages of this build show, a `book.build.Book` after they have run."""
    found = {}
    for name, state in sorted(book.states.items()):
        cells = {cell.number: cell for cell in state.page.cells} if state.page else {}
        texts = {code(state.page, cells[n]): t for n, t in of_page(state).items()}
        found |= {name: texts} if texts else {}
    return found


def kept(docs: Path) -> dict[str, Outputs]:
    """What was kept: JAX's version -> page -> code -> text."""
    found = {}
    for path in sorted((docs / FOLDER).glob("*.json")):
        try:
            pages = json.loads(path.read_text("utf-8"))
            found[path.stem] = {page: dict(texts) for page, texts in pages.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            logger.warning(
                "%s/%s is not what `nox -s outputs` keeps", FOLDER, path.name
            )
    return found


def differing(now: Outputs, before: Outputs) -> dict[str, int]:
    """How many texts of each page have other words, are new or gone."""
    found = {}
    for name in sorted({*now, *before}):
        ours, theirs = now.get(name, {}), before.get(name, {})
        pairs = ((ours.get(one), theirs.get(one)) for one in {*ours, *theirs})
        if count := sum(_words(a) != _words(b) for a, b in pairs):
            found[name] = count
    return found


def others(book) -> dict[str, Other]:
    """What other releases say in other words: page -> cell -> text -> releases."""
    releases, found = kept(book.docs), {}
    for name, state in book.states.items():
        for number, ours in of_page(state).items():
            jax = book.kernels[state.page.kernel].jax
            cell = code(state.page, state.page.cells[number - 1])
            for release, pages in releases.items():
                text = pages.get(name, {}).get(cell, ours)
                if release != jax and _words(text) != _words(ours):
                    cells = found.setdefault(name, {})
                    cells.setdefault(number, {}).setdefault(text, []).append(release)
    return found


def _words(text: str | None) -> list[str] | None:
    """The words of a text: no lines, numbers or addresses."""
    return None if text is None else _APART.sub(" ", text).split()


def again(app: Sphinx, env, *_changes: object) -> list[str]:
    """Pages are read again when another release says something new below them."""
    found = others(app.book)
    before, env.book_others = getattr(env, "book_others", {}), found
    return [n for n in {*found, *before} if found.get(n) != before.get(n)]


def show(app: Sphinx, doctree: nodes.document) -> None:
    """Put what others say below the cells."""
    found = app.env.book_others.get(app.env.docname, {})
    folded = {n: [_folded(*one) for one in said.items()] for n, said in found.items()}
    below.put(doctree, folded)


def _folded(text: str, names: list[str]) -> nodes.Node:
    shown = nodes.literal_block(text, text, language="none")
    title = f"The same in JAX {' and '.join(names)}"
    classes = ["wordings"]
    return HideCodeCellNode(
        "", shown, prompt_show=title, prompt_hide=title, classes=classes
    )


def tell(app: Sphinx, exception: Exception | None) -> None:
    """Leave this build's texts in `_build/outputs`, and say what is new in them."""
    book = app.book
    now = said(book)
    if exception is not None or app.builder.format != "html" or not now:
        return
    jax, folder = book.kernels["target"].jax, book.made / "outputs"
    for old in folder.glob("*.json"):
        old.unlink()
    text = json.dumps(now, indent=1, ensure_ascii=False) + "\n"
    write_atomically(folder / f"{jax}.json", text)
    if new := differing(now, kept(book.docs).get(jax, {})):
        pages = list(new)
        more = f" and {len(pages) - 9} pages more" if pages[9:] else ""
        logger.info(
            "%d outputs of JAX %s are not as kept, on %s: nox -s outputs keeps them",
            *(sum(new.values()), jax, ", ".join(pages[:9]) + more),
        )
