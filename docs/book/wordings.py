"""`{wordings}` below a cell that raises: how other JAX releases word its message.

A build knows the messages of its own JAX.  `nox -s messages` keeps them, those of the
pages in `errors/`, as `docs/errors/messages/JAX.json`:

    page -> code of the cell -> the message, as the book shows it

and so each build can show what the others said, where it differs, and can tell how far
its own messages are from those that were kept.  The code of a cell stands for all that
a reader sees of the page down to it: what another JAX said of other code is not shown.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ext import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from book.pages import Cell, Page
from book.run.cache import write_whole

logger = logging.getLogger(__name__)
SHELF = "errors/"
Messages = dict[str, dict[str, str]]  # page -> code -> message


def code(page: Page, cell: Cell) -> str:
    """What stands for the code of `page` down to `cell`, checks apart."""
    above = [c.source for c in page.cells if c.number <= cell.number and not c.check]
    return hashlib.sha256("\0".join(above).encode()).hexdigest()[:12]


def raising(page: Page) -> list[Cell]:
    """The cells of `page` that show a message."""
    return [cell for cell in page.cells if cell.raises and not cell.check]


def said(book) -> Messages:
    """The messages of this build, a `book.build.Book` after its pages have run."""
    states = ((n, s) for n, s in sorted(book.states.items()) if n.startswith(SHELF))
    found = {name: of_page(state) for name, state in states}
    return {name: messages for name, messages in found.items() if messages}


def of_page(state) -> dict[str, str]:
    """The messages of a page, a `book.build.PageState` after it has run."""
    if not state.entry or state.problems:
        return {}
    shown = {cell: state.entry.outputs[cell.number - 1] for cell in raising(state.page)}
    return {code(state.page, c): one[-1]["text"].rstrip() for c, one in shown.items()}


def kept(docs: Path) -> dict[str, Messages]:
    """The messages that were kept: JAX's version -> page -> code -> message."""
    paths = sorted((docs / SHELF / "messages").glob("*.json"))
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths}


def differing(now: Messages, before: Messages) -> dict[str, int]:
    """How many messages of each page are not the same, new or gone."""
    found = {}
    for name in sorted({*now, *before}):
        ours, theirs = now.get(name, {}), before.get(name, {})
        codes = {*ours, *theirs}
        if count := sum(ours.get(one) != theirs.get(one) for one in codes):
            found[name] = count
    return found


class Wordings(SphinxDirective):
    """The words of other releases for the message of the cell above, folded."""

    app: Sphinx

    def run(self) -> list[nodes.Node]:
        """Show each wording once; nothing where there is no other."""
        book, name = self.app.book, self.env.docname
        state = book.state(name)
        if not state.page or state.problems:
            return []  # one message is enough
        above = [c for c in raising(state.page) if c.line < self.lineno]
        if not name.startswith(SHELF) or not above:
            raise self.error("{wordings} stands below a cell that raises, in errors/")
        cell = code(state.page, above[-1])
        ours = of_page(state).get(cell)
        others: dict[str, list[str]] = {}
        here = book.kernels[state.page.kernel].jax
        for jax, messages in self.env.book_wordings.items():
            text = messages.get(name, {}).get(cell, ours)
            if jax != here and _wording(text) != _wording(ours):
                others.setdefault(text, []).append(jax)
        return [_folded(text, names) for text, names in others.items()]


def _wording(text: str | None) -> str:
    """The words of a message: neither its lines, nor the address of a page on it."""
    return " ".join(re.sub(r"https?://\S+", "", text or "").split())


def _folded(text: str, names: list[str]) -> nodes.Node:
    shown = nodes.literal_block(text, text, language="none")
    title = f"The same message in JAX {' and '.join(names)}"
    classes = ["wordings"]
    return HideCodeCellNode(
        "", shown, prompt_show=title, prompt_hide=title, classes=classes
    )


def again(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Pages that show wordings are read again when what was kept has changed."""
    found = kept(app.book.docs)
    before, env.book_wordings = getattr(env, "book_wordings", None), found
    pages = app.book.pages()
    shown = [p.name for p in pages if any(f.name == "wordings" for f in p.fences)]
    return [] if found == before else shown


def tell(app: Sphinx, exception: Exception | None) -> None:
    """Leave this build's messages in `_build/messages`, and say what is new in them."""
    book = app.book
    now = said(book)
    if exception is not None or app.builder.format != "html" or not now:
        return
    jax, folder = book.kernels["target"].jax, book.made / "messages"
    for old in folder.glob("*.json"):
        old.unlink()
    text = json.dumps(now, indent=1, ensure_ascii=False) + "\n"
    write_whole(folder / f"{jax}.json", text)
    if new := differing(now, kept(book.docs).get(jax, {})):
        pages = ", ".join(name.removeprefix(SHELF) for name in new)
        count = sum(new.values())
        logger.info(
            "%d messages of JAX %s are not as kept, on %s: nox -s messages keeps them",
            *(count, jax, pages),
        )
