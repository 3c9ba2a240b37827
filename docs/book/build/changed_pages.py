"""Tells Sphinx which pages to read again, and remembers those it has read.

Sphinx compares times of files.  A page here also changes with its outputs, with what is
in the files that it lists, includes or shows, and one that failed is read until it does
not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from book.files import digest_of
from book.page_memory import PageMemory
from book.state import Problem, Stamp, book_of

SAVED = "was saved while the book was built, and is shown as it was before; build again"
GONE = "was removed while the book was built; build again"
_Files = dict[Path, str | None]  # a digest of each file; None where there is none


@dataclass(frozen=True)
class _Read:
    """What a page was when Sphinx read it."""

    stamp: Stamp | None  # `PageState.stamp`
    files: _Files  # that it includes or shows


class ChangedPages(PageMemory[_Read]):
    """What each page was when Sphinx read it."""

    attribute = "book_read"

    def merge_other(
        self,
        app: Sphinx,
        env: BuildEnvironment,
        docnames: set[str],
        other: BuildEnvironment,
    ) -> None:
        """With -j: take over what another process has read, or reported as failed."""
        super().merge_other(app, env, docnames, other)
        for name in docnames:
            state = book_of(app).state(name)
            if state.stamp and not self.known(env)[name].stamp:
                state.page = None
                state.problems.append(Problem(name, "could not be read"))

    def get_outdated_docs(
        self,
        app: Sphinx,
        env: BuildEnvironment,
        added: set[str],
        changed: set[str],
        removed: set[str],
    ) -> list[str]:
        """The pages that show something else than Sphinx read, whatever their times."""
        _digest.cache_clear()
        known = self.known(env)
        outdated = []
        for name in sorted(env.found_docs):
            stamp = book_of(app).state(name).stamp
            if not stamp or known.get(name) != _Read(stamp, _digests(env, name)):
                outdated.append(name)
        return outdated


def remember(app: Sphinx, doctree: nodes.document) -> None:
    """Remember a page that has been read, with all files that it was found to show."""
    env = app.env
    stamp = book_of(app).state(env.docname).stamp
    ChangedPages.known(env)[env.docname] = _Read(stamp, _digests(env, env.docname))


def begin_anew(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    """Forget all pages that are about to be read, and leave out those that are gone.

    Sphinx forgets each as its turn comes, when a label that has moved from one page to
    another is there twice.
    """
    for name in names[:]:
        app.emit("env-purge-doc", env, name)
        env.clear_doc(name)
        if not Path(env.doc2path(name)).is_file():
            book_of(app).fail(Problem(name, GONE))
            book_of(app).state(name).page = None
            env.found_docs.discard(name)
            names.remove(name)


def check_saved(app: Sphinx, exception: Exception | None) -> None:
    """Pages that were saved meanwhile fail: their readers would not see that."""
    if exception is not None:
        return
    book = book_of(app)
    for page in book.pages():
        try:
            same = page.path.read_text(encoding="utf-8-sig") == page.text
        except (OSError, UnicodeDecodeError):
            same = False
        if not same:
            book.fail(Problem(page.name, SAVED if page.path.exists() else GONE))


def _digests(env: BuildEnvironment, name: str) -> _Files:
    """What is in the files that Sphinx knows the page called `name` to depend on."""
    paths = (Path(env.srcdir, file) for file in env.dependencies.get(name, ()))
    return {path: _digest(path) for path in paths}


_digest = cache(digest_of)  # while one build looks for what has changed
