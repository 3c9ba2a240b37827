"""A build, from its beginning to its end, and what it knows of each page.

Whatever goes wrong with a page is a `Problem` of that page, and the other pages go on.
"""

from __future__ import annotations

import hashlib
import shutil
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
from sphinx.application import Sphinx
from sphinx.util import logging

from book import targets
from book.pages import Page, Problem
from book.run import messages, stop
from book.run.cache import Entry

if TYPE_CHECKING:
    from book.cut.notebook import Step

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
    steps: dict[int, list[Step]] = field(default_factory=dict)  # of its notebook
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
    shutil.rmtree(out / ".doctrees", ignore_errors=True)  # it is not published
    if Path(app.doctreedir).is_relative_to(out):
        app.doctreedir = type(app.outdir)(book.made / "doctrees")
    if marker(app).exists():
        logger.info("the last build was stopped half-way; every page is written again")
        shutil.rmtree(app.doctreedir, ignore_errors=True)
    Path(app.doctreedir).mkdir(parents=True, exist_ok=True)


def marker(app: Sphinx) -> Path:
    """The file that is there while a build is at work, and after one was killed."""
    return app.book.made / f"unfinished-{Path(app.outdir).name}"


def guard(app: Sphinx) -> None:
    """A page that cannot be rendered fails, and the others are written."""
    book, builder = app.book, app.builder
    read_doc, write_doc = builder.read_doc, builder.write_doc

    def read_or_blame(name: str, **options: object) -> None:
        if name not in app.env.found_docs:
            return  # not UTF-8: Sphinx could not even open it
        count = len(book.state(name).problems)
        with book.blame(name):
            read_doc(name, **options)
        if len(book.state(name).problems) > count:
            book.state(name).page = None
            failed = book.state(name).problems
            app.env.book_failed = getattr(app.env, "book_failed", {}) | {name: failed}
            read_doc(name, **options)  # as a page that could not be read

    def write_or_blame(name: str, doctree: object) -> None:
        count = len(book.state(name).problems)
        with book.blame(name):
            write_doc(name, doctree)
        if len(book.state(name).problems) > count and builder.format == "html":
            Path(builder.get_outfilename(name)).unlink(missing_ok=True)

    builder.read_doc, builder.write_doc = read_or_blame, write_or_blame


def merge(app: Sphinx, env, names: set[str], other) -> None:
    """With -j: take over what failed, and was told, where `names` were read."""
    failed = getattr(other, "book_failed", {})
    for name in names & failed.keys():
        state = app.book.state(name)
        state.page, state.problems = None, failed[name]


def miss(app: Sphinx, exception: Exception | None) -> None:
    """With -j: a page that is not there has failed, and that was told elsewhere."""
    if exception is not None or app.builder.format != "html":
        return
    for name in app.env.found_docs:
        state, path = app.book.state(name), Path(app.builder.get_outfilename(name))
        if not path.exists() and not state.problems:
            state.problems.append(Problem(name, "could not be written"))


def end(app: Sphinx, exception: Exception | None) -> None:
    """Say how it went; let the next build begin."""
    states = app.book.states.values()
    if any(state.problems for state in states):
        app.statuscode = app.statuscode or 1
    if exception is None:
        marker(app).unlink(missing_ok=True)
        logger.info("%d pages", len(states))
    app.book_lock.release()
    stop.tell(exception)
