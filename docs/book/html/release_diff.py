"""Shows below an error message how other releases of JAX word it.

`nox -s outputs` keeps what the installed release raises on the pages of the book, as
`docs/evidence/outputs/JAX.json`:

    page -> code of the cell -> the message, as the book shows it

Every build compares its messages with these files.  Where another release has other
words, a reader sees them.  Where the file of the build's own release has, or lacks the
message, the page fails: so what is told of a release is what that release says.

Only words of JAX count: no numbers or addresses, and nothing that Python puts into a
message, which may be another Python.  Builds on other hardware than the simulated
devices of the target `cpu`, which the files are made on, compare nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.util import logging

from book.directives.shown import ShownCollector
from book.files import write_atomically
from book.html.folding import fold
from book.source.model import Cell, Page
from book.state import Book, PageState, Problem, book_of

logger = logging.getLogger(__name__)
FOLDER = "evidence/outputs"
TARGET = "cpu"  # what the kept messages were raised on
Outputs = dict[str, dict[str, str]]  # page -> code of a cell -> its message
Other = dict[int, dict[str, list[str]]]  # cell -> message -> the releases that say so
_OF_PYTHON = (
    # CPython 3.13 goes on: got an unexpected keyword argument 'a'. Did you mean 'b'?
    (r"(unexpected keyword argument '\w+')\. Did you mean '\w+'\?", r"\1"),
    # Which objects hold a tracer that leaked is known to the garbage collector.
    (r"<\w+ (\d+|…)> is referred to by .*", ""),
)
_NO_WORD = re.compile(r"https?://\S+|\b0x[0-9a-f]+|\b\d[\d.,]*(?:e[+-]?\d+)?", re.I)


def code(page: Page, cell: Cell) -> str:
    """What stands for `cell` in a file: its text, and which it is of those alike."""
    alike = [c.number for c in page.cells if c.source == cell.source]
    text = f"{alike.index(cell.number)}\0{cell.source}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def raising(page: Page) -> list[Cell]:
    """The cells of `page` that show a message."""
    return [cell for cell in page.cells if cell.raises and not cell.check]


def messages(state: PageState) -> dict[int, str]:
    """The messages that a page shows, by the numbers of its cells."""
    if state.page is None or state.entry is None or state.problems:
        return {}
    outputs = {c.number: state.entry.outputs[c.number - 1] for c in raising(state.page)}
    return {n: "".join(o[-1].get("text", "")).rstrip() for n, o in outputs.items() if o}


def words(message: str) -> list[str]:
    """The words of a message that are JAX's own, or whoever else raised it."""
    text = " ".join(message.split())
    for pattern, kept_part in _OF_PYTHON:
        text = re.sub(pattern, kept_part, text)
    return re.findall(r"[^\W\d_]+", _NO_WORD.sub(" ", text))


def kept(docs: Path) -> dict[str, Outputs]:
    """What was kept, by the version of JAX, of the files that can be read."""
    read = {path.stem: _read(path, path.stat().st_mtime_ns) for path in _files(docs)}
    return {jax: outputs for jax, outputs in read.items() if outputs is not None}


def _files(docs: Path) -> list[Path]:
    """The files that messages are kept in."""
    return sorted((docs / FOLDER).glob("*.json"))


@cache
def _read(path: Path, _changed: int) -> Outputs | None:
    """The messages in a file that was last `_changed` then; None where it has none."""
    try:
        pages = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(m, str) for of in pages.values() for m in of.values()):
            return None
        return {page: dict(messages) for page, messages in pages.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _comparable(book: Book) -> bool:
    """Whether this build runs on what the kept messages were raised on."""
    return book.kernels["target"].target.name == TARGET


def check_own_release(
    app: Sphinx, env: BuildEnvironment, *_changes: object
) -> list[str]:
    """A page fails that raises other words than those kept of the release it ran on.

    Of a release of which nothing is kept, as of a new one, everything is welcome.
    """
    book = book_of(app)
    jax = book.kernels["target"].jax
    known = kept(book.docs)
    for path in _files(book.docs):
        if path.stem not in known:
            what = f"{FOLDER}/{path.name} is not what `nox -s outputs` keeps"
            logger.warning("%s", what, type="book", subtype="outputs")
    own = known.get(jax)
    if own is None or not _comparable(book) or app.config.book_keep_outputs:
        return []
    for page in book.pages():
        of_page = own.get(page.name, {})
        for number, message in messages(book.state(page.name)).items():
            cell = page.cells[number - 1]
            before = of_page.get(code(page, cell))
            if before is None or words(before) != words(message):
                what = "does not have this message" if before is None else "is stale"
                why = f"docs/{FOLDER}/{jax}.json {what}; `nox -s outputs` renews it"
                book.fail(Problem(page.name, why, cell.line, number))
                break
    return []


def other_messages(book: Book, name: str) -> Other:
    """What other releases say in other words where the page `name` shows a message."""
    state, found = book.state(name), Other()
    if state.page is None or not _comparable(book):
        return found
    for number, ours in messages(state).items():
        of_cell = code(state.page, state.page.cells[number - 1])
        for release, pages in kept(book.docs).items():
            theirs = pages.get(name, {}).get(of_cell)
            own = release == book.kernels["target"].jax
            if theirs is not None and not own and words(theirs) != words(ours):
                found.setdefault(number, {}).setdefault(theirs, []).append(release)
    return found


def sentence(other: Other) -> str:
    """How many messages of a page have other words elsewhere; nothing if none has."""
    if not other:
        return ""
    said = [releases for texts in other.values() for releases in texts.values()]
    names = sorted({release for releases in said for release in releases})
    text = _("On JAX {releases} {count} messages have other words.")
    if len(other) == 1:
        text = _("On JAX {releases} one message has other words.")
    return text.format(releases=_(" and ").join(names), count=len(other))


def below_cells(
    app: Sphinx, state: PageState, page: Page
) -> dict[int, list[nodes.Node]]:
    """What other releases say, folded, below the cells where they do."""
    found = ShownCollector.show(app.env, book_of(app), other_messages, page.name)
    return {
        number: [_folded(text, releases) for text, releases in texts.items()]
        for number, texts in found.items()
    }


def _folded(text: str, releases: list[str]) -> nodes.Node:
    """A message under the names of the releases that say it."""
    shown = nodes.literal_block(text, text, language="none")
    title = _("The same in JAX {releases}").format(releases=_(" and ").join(releases))
    return fold(title, shown, classes=["wordings"])


def keep(app: Sphinx, exception: Exception | None) -> None:
    """With `book_keep_outputs`: keep the messages of this build, if no page failed.

    Those of pages that are not in this build stay as they are.
    """
    book = book_of(app)
    if exception is not None or not app.config.book_keep_outputs:
        return
    if not _comparable(book):
        logger.warning(
            "what JAX raises is kept of builds on the target %r only", TARGET
        )
        return
    if any(state.problems for state in book.states.values()):
        logger.warning("this build failed, so what JAX raised in it is not kept")
        return
    jax = book.kernels["target"].jax
    found = {
        name: said
        for name, said in kept(book.docs).get(jax, {}).items()
        if name not in book.states and (book.docs / f"{name}.md").is_file()
    }
    for page in book.pages():
        if said := messages(book.state(page.name)):
            cells = {code(page, page.cells[n - 1]): text for n, text in said.items()}
            found[page.name] = cells
    path, found = book.docs / FOLDER / f"{jax}.json", dict(sorted(found.items()))
    write_atomically(path, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    logger.info("kept: %s", path.relative_to(book.root))
