"""Pages are read, run and cut into programs before Sphinx reads the first of them.

This is where the promises meet: `targets` says what hardware there is, `cache` which
pages must run, `execute` runs them, `slicing` cuts them; MyST-NB then only renders.
"""

from __future__ import annotations

import hashlib
import shutil
from importlib.metadata import version
from pathlib import Path

import filelock
import nbformat
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from book import targets
from book.cut.program import Slicer, programs
from book.pages import Cell, Page, Problem, read
from book.run import stop
from book.run.cache import Cache, Entry, key, write_whole
from book.run.schedule import Runner

logger = logging.getLogger(__name__)
# The text of a page -> the page and what it put out, for MyST-NB's reader.
_PAGES: dict[str, tuple[Page, Entry | None]] = {}


class Build:
    """What this build knows of the book; `app.book` for the other extensions."""

    def __init__(self, app: Sphinx):
        self.docs = Path(app.confdir)
        self.root = self.docs.parent
        self.made = Path(app.outdir).parent
        self.roots = (self.root, self.docs)
        self.kernels: dict[str, targets.Hardware] = {}
        self.pages: dict[str, Page] = {}
        self.keys: dict[str, str] = {}
        self.entries: dict[str, Entry] = {}
        self.executed: set[str] = set()
        self.snippets: dict[str, dict[str, str]] = {}
        self.failed: dict[str, list[Problem]] = {}

    def fail(self, problem: Problem) -> None:
        """Report a problem; the build goes on to find more, and exits with 1."""
        self.failed.setdefault(problem.page, []).append(problem)
        where = f"{self.docs / problem.page}.md:{problem.line or ''}"
        logger.warning("%s", problem, location=where, type="book", subtype="page")


def _begin(app: Sphinx, config) -> None:
    """One build at a time in a folder; after one that was killed, start afresh."""
    stop.listen()
    app.book = Build(app)
    app.book.made.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(app.book.made / "lock")
    try:
        lock.acquire(timeout=0.1)
    except filelock.Timeout:
        logger.info("another build is at work in this folder; waiting for it")
        lock.acquire()
    app.book_lock = lock
    if _marker(app).exists():
        logger.info("the last build was stopped half-way; every page is written again")
        shutil.rmtree(app.doctreedir, ignore_errors=True)
        Path(app.doctreedir).mkdir(parents=True, exist_ok=True)


def _marker(app: Sphinx) -> Path:
    return app.book.made / f"unfinished-{Path(app.outdir).name}"


def _run(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Bring every page's outputs and programs up to date; name the pages to read."""
    book: Build = app.book
    book.kernels = targets.kernels(app)
    _marker(app).touch()
    caches = {
        name: Cache(book.made / "cache", hardware)
        for name, hardware in book.kernels.items()
    }
    stale = {}
    for name in sorted(env.found_docs):
        path = Path(env.doc2path(name))
        if path.suffix != ".md":
            continue
        try:
            page = book.pages[name] = read(path, name)
            if not page.cells:
                continue
            book.keys[name] = key(page, book.roots)
        except Problem as problem:
            book.fail(problem)
            continue
        entry = caches[page.kernel].get(page, book.keys[name])
        if entry is None:
            stale[name] = (page, book.keys[name])
        else:
            book.entries[name] = entry
    for dropped in sorted({name for c in caches.values() for name in c.dropped}):
        logger.info("the cached outputs of %s were damaged; dropped", dropped)
    if stale:
        runner = Runner(
            book.kernels, caches, book.roots, logger.info, app.config.book_jobs
        )
        runner.run(stale)
        book.entries |= runner.entries
        book.executed = set(runner.entries)
        for problem in sorted(runner.problems, key=lambda p: p.page):
            book.fail(problem)
    _PAGES.update(
        (page.text, (page, book.entries.get(name))) for name, page in book.pages.items()
    )
    _cut(book, env)
    return _outdated(book, env)


def _cut(book: Build, env: BuildEnvironment) -> None:
    """Write the program of every visible cell and listing to `_build/snippets`."""
    slicer = Slicer(book.roots)
    known = getattr(env, "book_snippets", {})
    env.book_snippets = {}
    for name, page in book.pages.items():
        stamp = (hashlib.sha256(page.text.encode()).hexdigest(), book.keys.get(name))
        if name in known and known[name][0] == stamp:
            found = known[name][1]
        elif name in book.failed:
            continue  # one message is enough
        else:
            found = programs(page, slicer, book.fail)
        if name not in book.failed:
            env.book_snippets[name] = (stamp, found)
        book.snippets[name] = found
    folder = book.made / "snippets"
    wanted = {
        folder / name / f"{which}.py": text
        for name, found in book.snippets.items()
        for which, text in found.items()
    }
    for path in set(folder.rglob("*.py")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_bytes() != text.encode():
            write_whole(path, text)


def _outdated(book: Build, env: BuildEnvironment) -> list[str]:
    """Pages whose outputs are not those that Sphinx read last time."""
    before = getattr(env, "book_keys", {})
    now = {
        name: (None if name in book.failed else (found, _when(book, name)))
        for name, found in book.keys.items()
    }
    env.book_keys = now
    changed = {
        name for name in now if now[name] is None or before.get(name) != now[name]
    }
    return sorted((changed | set(book.failed)) & env.found_docs)


def _when(book: Build, name: str) -> str | None:
    entry = book.entries.get(name)
    return entry.executed if entry else None


def with_outputs(text: str) -> nbformat.NotebookNode:
    """MyST-NB's reader: the page as a notebook that has already been executed."""
    v4 = nbformat.v4
    if text not in _PAGES:  # reported by `read`, with its line; Sphinx goes on
        empty = v4.new_markdown_cell("# A page that could not be read")
        return v4.new_notebook(
            cells=[empty], metadata={"source_map": [0], "orphan": True}
        )
    page, entry = _PAGES[text]
    cells, lines = [], []
    for piece in page.pieces():
        if isinstance(piece, Cell):
            lines.append(piece.span[0])
            outputs = entry.outputs[piece.number - 1] if entry else []
            cells.append(v4.new_code_cell(piece.source, metadata=_metadata(piece)))
            cells[-1].outputs = [nbformat.from_dict(output) for output in outputs]
        else:
            lines.append(piece[0])
            cells.append(v4.new_markdown_cell(piece[1]))
    ours = ("kernelspec", "book", "answers")
    metadata = {k: v for k, v in page.front.items() if k not in ours}
    metadata |= {"source_map": lines}
    metadata |= {"language_info": {"name": "python", "pygments_lexer": "python"}}
    return v4.new_notebook(cells=cells, metadata=nbformat.from_dict(metadata))


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


def _end(app: Sphinx, exception: Exception | None) -> None:
    book: Build = app.book
    if book.failed:
        app.statuscode = app.statuscode or 1
    if exception is None:
        _marker(app).unlink(missing_ok=True)
    app.book_lock.release()
    stop.tell(exception)


def setup(app: Sphinx) -> dict:
    """Run pages when Sphinx asks what is outdated; hand MyST-NB the outputs."""
    app.add_config_value("book_jobs", 0, "", types=(int,))
    app.connect("config-inited", _begin, priority=100)
    app.connect("env-get-outdated", _run)
    app.connect("build-finished", _end, priority=900)
    return {"version": version("sphinx"), "parallel_read_safe": True}
