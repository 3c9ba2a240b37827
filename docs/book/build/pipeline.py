"""What happens to all pages before Sphinx reads the first: they are read, run, sliced.

`book.hardware.probe` says what hardware there is, `book.execute` runs the pages whose
outputs are not in its cache, and `book.snippets` makes a program of each lesson.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from book.execute import xla_cache
from book.execute.cache import Cache, key
from book.exports import notebook
from book.files import write_changed_remove_rest
from book.hardware import probe
from book.snippets import slicer
from book.snippets.slicer import Slicer, programs
from book.source import kept_results
from book.source.dependencies import NotPython, imported_files, read_module
from book.source.model import Page
from book.source.parser import NOT_UTF_8, read
from book.source.translatable import translate_page
from book.state import Book, Problem, book_of

NEVER_RUN = (
    "{} would be shown as it is, and nothing on it would run; write it as Markdown "
    "(`nox -s new` begins a page), or move it out of docs/"
)
logger = logging.getLogger(__name__)


def read_and_execute(
    app: Sphinx,
    env: BuildEnvironment,
    added: set[str],
    changed: set[str],
    removed: set[str],
) -> list[str]:
    """Read every page, and run those whose outputs are not in the cache."""
    book = book_of(app)
    book.kernels = probe.kernels(app)
    book.unfinished.touch()
    kept_results.load(Path(app.doctreedir))
    _read(book, env)
    # What cannot be opened is no page for Sphinx, as if it had been removed.
    removed |= env.all_docs.keys() - env.found_docs
    added &= env.found_docs
    changed &= env.found_docs
    if app.config.root_doc not in env.found_docs:
        raise SystemExit("\nThe first page of the book cannot be read: see above.")
    caches = {
        kernel: Cache(book.made / "cache", hardware, book.root)
        for kernel, hardware in book.kernels.items()
    }
    _look_up(book, caches)
    _execute(book, caches, app.config.book_jobs)
    return []


def keep_results(app: Sphinx, exception: Exception | None) -> None:
    """Keep what was found out about pages and code for the next build."""
    if exception is None:
        kept_results.save(Path(app.doctreedir))


def _read(book: Book, env: BuildEnvironment) -> None:
    """Read every page; Sphinx leaves out those that it could not open."""
    for name in sorted(env.found_docs):
        path, state = Path(env.doc2path(name)), book.state(name)
        book.paths[name] = path
        with book.blame(name):
            if path.suffix != ".md":
                raise Problem(name, NEVER_RUN.format(path.relative_to(book.docs)))
            state.page = translate_page(read(path, name), book.translate(name))
        reasons = {problem.reason for problem in state.problems}
        if path.suffix != ".md" or NOT_UTF_8 in reasons:
            env.found_docs.discard(name)


def _look_up(book: Book, caches: dict[str, Cache]) -> None:
    """Take the outputs of pages from the cache of their hardware, where they are."""
    for page in book.pages():
        if page.kernel:
            state = book.state(page.name)
            with book.blame(page.name):
                state.key = key(page, book.roots)
                state.entry = caches[page.kernel].get(page, state.key)
    for name in sorted({name for one in caches.values() for name in one.dropped}):
        logger.info("the cached outputs of %s were damaged; dropped", name)


def _execute(book: Book, caches: dict[str, Cache], jobs: int) -> None:
    """Run the pages without outputs, so many at a time; 0 jobs: as many as fit."""
    stale: dict[str, tuple[Page, str]] = {}
    for name, state in book.states.items():
        if state.page and state.key and not state.entry:
            stale[name] = state.page, state.key
    if not stale:
        return
    from book.execute.scheduler import (
        Scheduler,  # imports Jupyter, which takes a second
    )
    from book.execute.temporary_folder import NoFolder

    compiled = book.made / "xla"
    xla_cache.remove_if_too_large(compiled)
    scheduler = Scheduler(book.kernels, caches, book.roots, logger.info, jobs, compiled)
    try:
        scheduler.run(stale)
    except NoFolder as error:
        raise SystemExit(f"\n{error}") from None
    for name, entry in scheduler.entries.items():
        state = book.state(name)
        state.entry, state.executed = entry, True
    for problem in sorted(scheduler.problems, key=lambda problem: problem.page):
        book.fail(problem)


def slice_programs(
    app: Sphinx, env: BuildEnvironment, *_changes: set[str]
) -> list[str]:
    """Write the program of every lesson and listing to `_build/snippets`."""
    book = book_of(app)
    page_slicer = Slicer(book.roots)
    known = getattr(env, "book_slices", {})
    env.book_slices = {}
    for page in book.pages():
        state = book.state(page.name)
        stamp = _what_is_sliced(page, state.key, book.roots)
        if page.name in known and known[page.name][0] == stamp:
            _, state.programs, state.code_cells = known[page.name]
        elif not state.problems:  # otherwise one message is enough
            with book.blame(page.name):
                state.programs = programs(page, page_slicer, book.fail)
            if not state.problems:
                with book.blame(page.name):
                    state.code_cells = notebook.code_of_lessons(page, page_slicer)
        if not state.problems:
            env.book_slices[page.name] = stamp, state.programs, state.code_cells
    folder = book.made / "snippets"
    wanted: dict[Path, str | None] = {
        folder / name / f"{which}.py": text
        for name, state in book.states.items()
        for which, text in state.programs.items()
    }
    write_changed_remove_rest(folder.rglob("*.py"), wanted)
    return []


def _what_is_sliced(page: Page, key: str | None, roots: tuple[Path, ...]) -> str:
    """A digest of all that the programs of a page are made of, and of what makes them.

    The key has the files that cells import; those of listings are added here.
    """
    files: set[Path] = set()
    for listing in page.listings:
        if listing.path.is_file():
            files.add(listing.path)
            if listing.path.suffix == ".py":
                with suppress(NotPython):  # which the slicer reports
                    files |= imported_files(read_module(listing.path, roots), roots)
    return _digest(files, page.text, str(key), _slicer_version())


@cache
def _slicer_version() -> str:
    """A digest of the engine's own files that make programs."""
    folder = Path(slicer.__file__).parent
    return _digest({*folder.glob("*.py"), Path(notebook.__file__)})


def _digest(files: set[Path], *texts: str) -> str:
    parts = [text.encode() for text in texts]
    parts += [path.read_bytes() for path in sorted(files)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
