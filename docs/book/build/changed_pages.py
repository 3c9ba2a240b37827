"""Tells Sphinx which pages to read again, and remembers those it has read.

Sphinx compares times of files.  A page here also changes with its outputs, with what is
in the files that it lists, includes or shows, and one that failed is read until it does
not.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors import EnvironmentCollector

from book.files import digest_of
from book.state import Problem, Stamp, book_of

SAVED = "was saved while the book was built, and is shown as it was before; build again"
GONE = "was removed while the book was built; build again"
_Files = dict[Path, str | None]  # a digest of each file; None where there is none


class ChangedPages(EnvironmentCollector):
    """What each page showed when Sphinx read it: `PageState.stamp`, by its name."""

    def clear_doc(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Forget a page that is gone, or is about to be read."""
        _stamps(env).pop(docname, None)
        _files(env).pop(docname, None)

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Remember a page that has been read."""
        name = app.env.docname
        _stamps(app.env)[name] = book_of(app).state(name).stamp
        _files(app.env)[name] = _digests(app.env, name)

    def merge_other(
        self,
        app: Sphinx,
        env: BuildEnvironment,
        docnames: set[str],
        other: BuildEnvironment,
    ) -> None:
        """With -j: take over what another process has read, or reported as failed."""
        _files(env).update({name: _files(other)[name] for name in docnames})
        for name in docnames & _stamps(other).keys():
            _stamps(env)[name] = _stamps(other)[name]
            state = book_of(app).state(name)
            if state.stamp and not _stamps(other)[name]:
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
        known = _stamps(env)
        stamps = {name: s.stamp for name, s in book_of(app).states.items()}
        outdated = {n for n, one in stamps.items() if not one or known.get(n) != one}
        _digest.cache_clear()
        for name, files in _files(env).items():
            if name in env.found_docs and files != _digests(env, name):
                outdated.add(name)
        return sorted(outdated)


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


def _stamps(env: BuildEnvironment) -> dict[str, Stamp | None]:
    """The stamps that Sphinx keeps with its environment, from build to build."""
    if not hasattr(env, "book_stamps"):
        env.book_stamps = {}
    return env.book_stamps


def _files(env: BuildEnvironment) -> dict[str, _Files]:
    """What was in the files that each page includes or shows, by its name."""
    if not hasattr(env, "book_files"):
        env.book_files = {}
    return env.book_files


def _digests(env: BuildEnvironment, name: str) -> _Files:
    """What is in the files that Sphinx knows the page called `name` to depend on."""
    paths = (Path(env.srcdir, file) for file in env.dependencies.get(name, ()))
    return {path: _digest(path) for path in paths}


_digest = cache(digest_of)  # while one build looks for what has changed
