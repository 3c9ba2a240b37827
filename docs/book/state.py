"""What one build knows: the book, each of its pages, and what is wrong with them."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock
from sphinx.application import Sphinx
from sphinx.util import logging

from book import error_text
from book.files import is_of_machine
from book.translation.edition import (
    ENGLISH,
    builds_folder,
    page_words,
    translated_pages,
)

if TYPE_CHECKING:
    from book.execute.cache import Entry
    from book.exports.notebook import CodeCell
    from book.hardware.targets import Hardware
    from book.source.model import Page

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Problem(Exception):
    """Something wrong on a page, in words for the person who can fix it.

    `page` is its name, as in `vmap/axes`; `cell` counts its code cells from 1, and is
    None where no cell is to blame.  A build that has one goes on, and exits with 1.
    """

    page: str
    reason: str
    line: int | None = None
    cell: int | None = None

    def __str__(self) -> str:
        where = f"{self.page}, cell {self.cell}" if self.cell else self.page
        return f"{where}: {self.reason}"


# The text of a page with its listings, the key of its outputs, and when they were made.
Stamp = tuple[str, str | None, str | None]


@dataclass
class PageState:
    """What one build has found out about one page; each stage adds to it.

    `page` is None where it could not be read, `key` where nothing on it runs.
    """

    name: str
    page: Page | None = None
    key: str | None = None  # a digest of all that decides its outputs
    entry: Entry | None = None  # its outputs
    executed: bool = False  # in this build, so they are not from the cache
    programs: dict[str, str] = field(default_factory=dict)  # of `cell1`, `listing1`
    code_cells: dict[int, list[CodeCell]] = field(default_factory=dict)  # of lessons
    problems: list[Problem] = field(default_factory=list)

    @property
    def stamp(self) -> Stamp | None:
        """What is shown of the page; None for one that has to be read again."""
        if self.page is None or self.problems:
            return None
        files = [one.path for one in self.page.listings if one.path.is_file()]
        shown = [self.page.text.encode(), *(path.read_bytes() for path in files)]
        text = hashlib.sha256(b"\0".join(shown)).hexdigest()
        return text, self.key, self.entry.executed if self.entry else None


class Book:
    """What this build knows of the book: its folders, and the state of each page.

    There is one a build; `book_of(app)` is it.
    """

    def __init__(self, app: Sphinx):
        self.docs = Path(app.confdir)
        self.root = self.docs.parent  # of the repository
        self.made = builds_folder(app)  # what builds make: docs/_build
        self.language = app.config.language
        # Those that this language has; None stands for all.
        self.pages_written: set[str] | None = None
        if self.language != ENGLISH:
            self.pages_written = translated_pages(self.docs, self.language)
        # There while a build is at work, and after one was killed.
        self.unfinished = self.made / f"unfinished-{Path(app.outdir).name}"
        self.roots = (self.root, self.docs)  # where imports of the repository start
        self.lock = FileLock(self.made / "lock")  # held by the build that writes there
        self.kernels: dict[str, Hardware] = {}  # by the names that front matter gives
        self.states: dict[str, PageState] = {}  # by the names of pages
        self.paths: dict[str, Path] = {}  # of the files of pages, by their names
        self.verbose = app.verbosity > 0

    def state(self, name: str) -> PageState:
        """The state of the page called `name`; a new one where there is none yet."""
        return self.states.setdefault(name, PageState(name))

    def pages(self) -> list[Page]:
        """The pages that could be read, in the order of their names."""
        states = (self.states[name] for name in sorted(self.states))
        return [state.page for state in states if state.page]

    def translate(self, name: str) -> Callable[[str], str]:
        """What translates a text of the page called `name` where it has one."""
        if name not in (self.pages_written or ()):
            return str
        return page_words(self.docs, self.language, name)

    def writes(self, name: str) -> bool:
        """Whether this build writes the page called `name`; it reads them all."""
        return self.pages_written is None or name in self.pages_written

    def written(self) -> list[PageState]:
        """The states of the pages that this build writes."""
        return [state for state in self.states.values() if self.writes(state.name)]

    def fail(self, problem: Problem) -> None:
        """Report a problem; the build goes on to find more, and exits with 1."""
        self.state(problem.page).problems.append(problem)
        path = self.paths.get(problem.page, self.docs / f"{problem.page}.md")
        where = f"{path}:{problem.line or ''}"
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
            if is_of_machine(error):
                raise
            if self.verbose:
                logger.info("".join(traceback.format_exception(error)))
            said = error_text.first_line(type(error).__name__, str(error))
            self.fail(Problem(name, f"the engine failed: {said}; please report"))


def book_of(app: Sphinx) -> Book:
    """The book that `app` builds; there is one from `config-inited` on."""
    return app.book
