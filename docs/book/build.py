"""Pages are read, run and cut into programs before Sphinx reads the first of them.

This is where the promises meet: `targets` says what hardware there is, `run` runs the
pages that are not in its cache, `cut` cuts them; MyST-NB then only renders.  Whatever
goes wrong with a page is a `Problem` of that page, and the other pages go on.
"""

from __future__ import annotations

import ast
import hashlib
import re
import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import filelock
import nbformat
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from book import targets
from book.cut.program import SliceError, Slicer
from book.pages import Cell, Listing, Page, Problem, read
from book.run import messages, stop
from book.run.cache import Cache, Entry, key, write_whole
from book.run.schedule import Runner

logger = logging.getLogger(__name__)


@dataclass
class PageState:
    """What one build knows of one page; `page` is None where it could not be read."""

    name: str
    page: Page | None = None
    key: str | None = None  # of what it runs; None where nothing does
    entry: Entry | None = None  # what it put out
    executed: bool = False  # in this build, not taken from the cache
    programs: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def stamp(self) -> tuple | None:
        """What is shown of the page; None for one that has to be read again."""
        if self.page is None or self.problems:
            return None
        files = [one.path for one in self.page.listings if one.path.is_file()]
        shown = [self.page.text.encode(), *(path.read_bytes() for path in files)]
        text = hashlib.sha256(b"\0".join(shown)).hexdigest()
        return text, self.key, self.entry and self.entry.executed


# The text of a page -> its state, for MyST-NB's reader, which knows no more than that.
_READ: dict[str, PageState] = {}


class Book:
    """What this build knows of the book; `app.book` for the rooms."""

    def __init__(self, app: Sphinx):
        self.docs = Path(app.confdir)
        self.root = self.docs.parent
        self.made = Path(app.outdir).parent
        self.roots = (self.root, self.docs)
        self.kernels: dict[str, targets.Hardware] = {}
        self.states: dict[str, PageState] = {}
        self.verbose = app.verbosity > 0

    def state(self, name: str) -> PageState:
        """The state of the page called `name`."""
        return self.states.setdefault(name, PageState(name))

    def pages(self) -> list[Page]:
        """The pages that could be read, in the order of their names."""
        states = (self.states[name] for name in sorted(self.states))
        return [state.page for state in states if state.page]

    def fail(self, problem: Problem) -> None:
        """Report a problem; the build goes on to find more, and exits with 1."""
        self.state(problem.page).problems.append(problem)
        where = f"{self.docs / problem.page}.md:{problem.line or ''}"
        logger.warning("%s", problem, location=where, type="book", subtype="page")

    @contextmanager
    def blame(self, name: str) -> Iterator[None]:
        """Turn what goes wrong inside into a problem of the page called `name`.

        With `-v` the whole traceback of an error of the engine is shown.
        """
        try:
            yield
        except Problem as problem:
            self.fail(problem)
        except Exception as error:
            error = getattr(error, "orig_exc", None) or error
            if isinstance(error, OSError) and error.errno in stop.MACHINE:
                raise
            if self.verbose:
                logger.info("".join(traceback.format_exception(error)))
            said = messages.brief(type(error).__name__, str(error))
            self.fail(Problem(name, f"the engine failed: {said}; please report"))


def begin(app: Sphinx, _config: object) -> None:
    """One build at a time in a folder; after one that was killed, start afresh."""
    stop.listen()
    book = app.book = Book(app)
    book.made.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(book.made / "lock")
    try:
        lock.acquire(timeout=0.1)
    except filelock.Timeout:
        logger.info("another build is at work in this folder; waiting for it")
        lock.acquire()
    app.book_lock = lock
    out = Path(app.outdir)
    if Path(app.doctreedir).is_relative_to(out):  # nothing of it is published
        shutil.rmtree(app.doctreedir, ignore_errors=True)
        app.doctreedir = type(app.outdir)(book.made / "doctrees")
    if _marker(app).exists():
        logger.info("the last build was stopped half-way; every page is written again")
        shutil.rmtree(app.doctreedir, ignore_errors=True)
    Path(app.doctreedir).mkdir(parents=True, exist_ok=True)


def _marker(app: Sphinx) -> Path:
    return app.book.made / f"unfinished-{Path(app.outdir).name}"


def guard(app: Sphinx) -> None:
    """A page that cannot be rendered fails, and the others are written."""
    book, builder = app.book, app.builder
    read_doc, write_doc = builder.read_doc, builder.write_doc

    def read_or_blame(name: str, **options: object) -> None:
        count = len(book.state(name).problems)
        with book.blame(name):
            read_doc(name, **options)
        if len(book.state(name).problems) > count:
            _READ.pop(getattr(book.state(name).page, "text", ""), None)
            read_doc(name, **options)  # as a page that could not be read

    def write_or_blame(name: str, doctree: object) -> None:
        count = len(book.state(name).problems)
        with book.blame(name):
            write_doc(name, doctree)
        if len(book.state(name).problems) > count and builder.format == "html":
            Path(builder.get_outfilename(name)).unlink(missing_ok=True)

    builder.read_doc, builder.write_doc = read_or_blame, write_or_blame


def run(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Read every page, and run those whose outputs are not in the cache."""
    book: Book = app.book
    book.kernels = targets.kernels(app)
    _marker(app).touch()
    caches = {
        name: Cache(book.made / "cache", hardware)
        for name, hardware in book.kernels.items()
    }
    for name in sorted(env.found_docs):
        path = Path(env.doc2path(name))
        if path.suffix == ".md":
            with book.blame(name):
                _look_up(book.state(name), path, book, caches)
    for dropped in sorted({name for c in caches.values() for name in c.dropped}):
        logger.info("the cached outputs of %s were damaged; dropped", dropped)
    stale = {
        name: (state.page, state.key)
        for name, state in book.states.items()
        if state.key and not state.entry
    }
    if stale:
        runner = Runner(
            book.kernels, caches, book.roots, logger.info, app.config.book_jobs
        )
        runner.run(stale)
        for name, entry in runner.entries.items():
            state = book.state(name)
            state.entry, state.executed = entry, True
        for problem in sorted(runner.problems, key=lambda p: p.page):
            book.fail(problem)
    _READ.update(
        (state.page.text, state) for state in book.states.values() if state.page
    )
    return []


def _look_up(state: PageState, path: Path, book: Book, caches: dict) -> None:
    page = state.page = read(path, state.name)
    if page.cells:
        state.key = key(page, book.roots)
        state.entry = caches[page.kernel].get(page, state.key)


def cut(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Write the program of every lesson and listing to `_build/snippets`."""
    book, slicer = app.book, Slicer(app.book.roots)
    known, env.book_snippets = getattr(env, "book_snippets", {}), {}
    for page in book.pages():
        state = book.state(page.name)
        stamp = (hashlib.sha256(page.text.encode()).hexdigest(), state.key)
        if page.name in known and known[page.name][0] == stamp:
            state.programs = known[page.name][1]
        elif state.problems:
            continue  # one message is enough
        else:
            with book.blame(page.name):
                state.programs = programs(page, slicer, book.fail)
        if not state.problems:
            env.book_snippets[page.name] = (stamp, state.programs)
    folder = book.made / "snippets"
    wanted = {
        folder / name / f"{which}.py": text
        for name, state in book.states.items()
        for which, text in state.programs.items()
    }
    for path in set(folder.rglob("*.py")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_bytes() != text.encode():
            write_whole(path, text)
    return []


def outdated(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Pages that do not show what Sphinx read last time, whatever their times say."""
    before = getattr(env, "book_stamps", {})
    now = {name: state.stamp for name, state in app.book.states.items()}
    env.book_stamps = now
    changed = {n for n, stamp in now.items() if not stamp or before.get(n) != stamp}
    return sorted(changed & env.found_docs)


def with_outputs(text: str) -> nbformat.NotebookNode:
    """MyST-NB's reader: the page as a notebook that has already been executed."""
    v4 = nbformat.v4
    if text not in _READ:  # reported by then, with its line; Sphinx goes on
        empty = v4.new_markdown_cell("# A page that could not be read")
        return v4.new_notebook(
            cells=[empty], metadata={"source_map": [0], "orphan": True}
        )
    page, entry = _READ[text].page, _READ[text].entry
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


def programs(
    page: Page, slicer: Slicer, fail: Callable[[Problem], None]
) -> dict[str, str]:
    """The program of every visible cell and listing of `page`: name -> text."""
    found = {}
    for index, cell in enumerate(page.cells):
        if not cell.visible:
            continue
        # Removed cells draw, they never define: a program cannot need one.
        before = () if cell.fresh else page.cells[:index]
        above = [_completed(c) for c in before if c.visible and not c.fresh]
        try:
            found[f"cell{cell.number}"] = slicer.cell(above, cell.source, cell.raises)
        except SliceError as error:
            fail(Problem(page.name, str(error), cell.line, cell.number))
    for listing in page.listings:
        if not _there(listing):
            continue  # Sphinx reports it
        try:
            found[f"listing{listing.number}"] = slicer.listing(
                listing.path, listing.pyobject
            )
        except SliceError as error:
            fail(Problem(page.name, f"a listing: {error}", listing.line))
    return found


def _completed(cell: Cell) -> str:
    """What of the cell's source ran to its end: all of it, unless it was to raise."""
    if not cell.raises:
        return cell.source
    last = ast.parse(cell.source).body[-1]
    lines = cell.source.split("\n")[: last.lineno]
    lines[-1] = lines[-1][: last.col_offset]
    return "\n".join(lines).rstrip("; \n")


def _there(listing: Listing) -> bool:
    """Whether there is such a file, of Python, and such an object in it."""
    if listing.path.suffix != ".py" or not listing.path.is_file():
        return False
    name = re.escape((listing.pyobject or "").split(".")[0])
    text = listing.path.read_text(encoding="utf-8")
    return bool(re.search(rf"^(async def|def|class) {name}\b", text, re.M)) or not name


def end(app: Sphinx, exception: Exception | None) -> None:
    """Say how it went; let the next build begin."""
    states = app.book.states.values()
    if any(state.problems for state in states):
        app.statuscode = app.statuscode or 1
    if exception is None:
        _marker(app).unlink(missing_ok=True)
        first = sum(bool(page.cells and not page.kind) for page in app.book.pages())
        old = f"; {first} still in the first edition's form" if first else ""
        logger.info("%d pages%s", len(states), old)
    app.book_lock.release()
    stop.tell(exception)
