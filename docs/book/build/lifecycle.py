"""The beginning and the end of a build.

One build at a time writes to a folder, and one that was killed leaves nothing behind.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import filelock
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

from book.build import open_reports
from book.execute import signals
from book.state import Book, book_of

logger = logging.getLogger(__name__)


def begin(app: Sphinx, config: Config) -> None:
    """Make the `Book` of this build, and wait for another build in the same folder."""
    signals.listen()
    app.book = book = Book(app)
    open_reports.listen(app)
    book.made.mkdir(parents=True, exist_ok=True)
    try:
        book.lock.acquire(timeout=0.1)
    except filelock.Timeout:
        logger.info("another build is at work in this folder; waiting for it")
        book.lock.acquire()
    except OSError as error:
        signals.explain_unwritable(error, book.made)
        raise
    if book.unfinished.exists():
        # Sphinx compares times, and would take a half-written page for a new one.
        logger.info("the last build was stopped half-way; every page is written again")
        shutil.rmtree(app.doctreedir, ignore_errors=True)
        Path(app.doctreedir).mkdir(parents=True)


def end(app: Sphinx, exception: Exception | None) -> None:
    """Say how many pages there are, and let the next build begin."""
    states = book_of(app).states.values()
    if any(state.problems for state in states):
        app.statuscode = app.statuscode or 1  # without -W problems are warnings only
    if exception is None:
        book_of(app).unfinished.unlink(missing_ok=True)
        logger.info("%d pages", len(states))
    book_of(app).lock.release()
    signals.explain_unwritable(exception, book_of(app).made)
