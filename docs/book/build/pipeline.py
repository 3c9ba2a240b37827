"""Pages are read, run and cut into programs before Sphinx reads the first of them.

This is where the promises meet: `probe` says what hardware there is, `run` runs the
pages that are not in its cache, `cut` cuts them; MyST-NB then only renders.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from book.build.lifecycle import marker
from book.execute import xla_cache
from book.execute.cache import Cache, key
from book.exports.notebook import lessons_of
from book.files import write_changed_remove_rest
from book.hardware import probe
from book.snippets.slicer import Slicer, programs
from book.source.model import Cell
from book.source.page import NOT_UTF_8, Page, read
from book.state import Book, PageState

logger = logging.getLogger(__name__)
# The text of a page -> its state, for MyST-NB's reader, which knows no more than that.
READ: dict[str, PageState] = {}


def run(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Read every page, and run those whose outputs are not in the cache."""
    book: Book = app.book
    book.kernels = probe.kernels(app)
    marker(app).touch()
    caches = {
        name: Cache(book.made / "cache", hardware)
        for name, hardware in book.kernels.items()
    }
    for name in sorted(env.found_docs):
        path = Path(env.doc2path(name))
        if path.suffix == ".md":
            with book.blame(name):
                page = read(path, name)
                _look_up(book.state(name), page, book, caches)
            if any(one.reason == NOT_UTF_8 for one in book.state(name).problems):
                env.found_docs.discard(name)
    for dropped in sorted({name for c in caches.values() for name in c.dropped}):
        logger.info("the cached outputs of %s were damaged; dropped", dropped)
    _run_stale(book, caches, app.config.book_jobs)
    READ.update((s.page.text, s) for s in book.states.values() if s.page)
    return []


def _run_stale(book: Book, caches: dict[str, Cache], jobs: int) -> None:
    states = book.states.items()
    stale = {n: (s.page, s.key) for n, s in states if s.key and not s.entry}
    if stale:
        from book.execute.scheduler import (
            Scheduler,  # and with it Jupyter, which takes long
        )

        compiled = book.made / "xla"
        xla_cache.remove_if_too_large(compiled)
        scheduler = Scheduler(
            book.kernels, caches, book.roots, logger.info, jobs, compiled
        )
        scheduler.run(stale)
        for name, entry in scheduler.entries.items():
            state = book.state(name)
            state.entry, state.executed = entry, True
        for problem in sorted(scheduler.problems, key=lambda p: p.page):
            book.fail(problem)


def _look_up(state: PageState, page: Page, book: Book, caches: dict) -> None:
    state.page = page
    if page.cells:
        state.key = key(page, book.roots)
        state.entry = caches[page.kernel].get(page, state.key)


def cut(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Write the program of every lesson and listing to `_build/snippets`."""
    book, slicer = app.book, Slicer(app.book.roots)
    known, env.book_cut = getattr(env, "book_cut", {}), {}
    for page in book.pages():
        state = book.state(page.name)
        stamp = (hashlib.sha256(page.text.encode()).hexdigest(), state.key, _cutters())
        if page.name in known and known[page.name][0] == stamp:
            _, state.programs, state.steps = known[page.name]
        elif state.problems:
            continue  # one message is enough
        else:
            with book.blame(page.name):
                state.programs = programs(page, slicer, book.fail)
                if not state.problems:
                    state.steps = lessons_of(page, slicer, book.fail)
        if not state.problems:
            env.book_cut[page.name] = (stamp, state.programs, state.steps)
    folder = book.made / "snippets"
    wanted = {
        folder / name / f"{which}.py": text
        for name, state in book.states.items()
        for which, text in state.programs.items()
    }
    write_changed_remove_rest(folder.rglob("*.py"), wanted)
    return []


@cache
def _cutters() -> str:
    """A digest of what cuts: another one cuts anew."""
    folder = Path(__file__).parents[1] / "snippets"
    texts = [path.read_bytes() for path in sorted(folder.glob("*.py"))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def outdated(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Pages that do not show what Sphinx read last time, whatever their times say."""
    before, now = getattr(env, "book_stamps", {}), _stamps(app.book)
    changed = {n for n, stamp in now.items() if not stamp or before.get(n) != stamp}
    return sorted(changed & env.found_docs)


def stamp(app: Sphinx, env: BuildEnvironment) -> None:
    """Remember what Sphinx has read; nothing of a page on which something failed."""
    env.book_stamps, env.book_failed = _stamps(app.book), {}


def _stamps(book: Book) -> dict[str, tuple | None]:
    return {name: state.stamp for name, state in book.states.items()}


def with_outputs(text: str) -> nbformat.NotebookNode:
    """MyST-NB's reader: the page as a notebook that has already been executed."""
    state = READ.get(text)
    if not state or not state.page:  # reported by then, with its line; Sphinx goes on
        metadata = {"source_map": [0], "orphan": True}
        return _notebook([_prose("# A page that could not be read")], metadata)
    page, entry = state.page, state.entry
    cells, lines = [], []
    for piece in page.pieces():
        if isinstance(piece, Cell):
            lines.append(piece.span[0])
            outputs = entry.outputs[piece.number - 1] if entry else []
            code = {"cell_type": "code", "source": piece.source, "outputs": outputs}
            cells.append(code | {"metadata": _metadata(piece), "execution_count": None})
        else:
            lines.append(piece[0])
            cells.append(_prose(piece[1]))
    ours = ("kernelspec", "book", "answers", "error")
    metadata = {k: v for k, v in page.front.items() if k not in ours}
    metadata |= {"source_map": lines}
    metadata |= {"language_info": {"name": "python", "pygments_lexer": "python"}}
    return _notebook(cells, metadata)


def _notebook(cells: list[dict], metadata: dict) -> nbformat.NotebookNode:
    """A notebook; `nbformat.v4` would validate each cell of it at length."""
    made = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
    return nbformat.from_dict(made)


def _prose(text: str) -> dict:
    return {"cell_type": "markdown", "source": text, "metadata": {}}


def _metadata(cell: Cell) -> dict:
    """What the rendering of a page knows of a cell."""
    found = {"number": cell.number, "tags": sorted(cell.tags)}
    if cell.raises:
        found["tags"].append("raises")
    if cell.check:
        found["check"] = cell.assertions
    if cell.fresh:
        found["fresh"] = True
    return found | ({"mystnb": cell.mystnb} if cell.mystnb else {})
