"""What a build knows of the book, of each page, and what is wrong with it."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.application import Sphinx
from sphinx.util import logging

from book import error_text
from book.files import UNWRITABLE

if TYPE_CHECKING:
    from book.execute.cache import Entry
    from book.exports.notebook import Step
    from book.hardware.targets import Hardware
    from book.source.page import Page

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Problem(Exception):
    """What is wrong, where, in words for the person who can fix it.

    `cell` counts the page's code cells from 1; None where no cell is to blame.
    """

    page: str
    reason: str
    line: int | None = None
    cell: int | None = None

    def __str__(self) -> str:
        where = f"{self.page}, cell {self.cell}" if self.cell else self.page
        return f"{where}: {self.reason}"


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
        self.kernels: dict[str, Hardware] = {}
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
            if isinstance(error, OSError) and error.errno in UNWRITABLE:
                raise
            if self.verbose:
                logger.info("".join(traceback.format_exception(error)))
            said = error_text.first_line(type(error).__name__, str(error))
            self.fail(Problem(name, f"the engine failed: {said}; please report"))
