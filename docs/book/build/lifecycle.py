"""A build from its beginning to its end.

One build at a time writes to a folder.  Whatever goes wrong with a page is a `Problem`
of that page, and the other pages go on.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import filelock
from sphinx.application import Sphinx
from sphinx.util import logging

from book.execute import signals
from book.state import Book, Problem

logger = logging.getLogger(__name__)


def begin(app: Sphinx, _config: object) -> None:
    """One build at a time in a folder; after one that was killed, start afresh."""
    signals.listen()
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
    signals.explain_unwritable(exception)
