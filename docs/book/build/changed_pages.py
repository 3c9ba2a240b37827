"""Tells Sphinx which pages to read again, and remembers those it has read.

Sphinx compares times of files.  A page here also changes with its outputs and with the
files it lists, and one that failed is read until it does not.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors import EnvironmentCollector

from book.state import Problem, Stamp, book_of


class ChangedPages(EnvironmentCollector):
    """What each page showed when Sphinx read it: `PageState.stamp`, by its name."""

    def clear_doc(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Forget a page that is gone, or is about to be read."""
        _stamps(env).pop(docname, None)

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Remember a page that has been read."""
        name = app.env.docname
        _stamps(app.env)[name] = book_of(app).state(name).stamp

    def merge_other(
        self,
        app: Sphinx,
        env: BuildEnvironment,
        docnames: set[str],
        other: BuildEnvironment,
    ) -> None:
        """With -j: take over what another process has read, or reported as failed."""
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
        return [n for n, stamp in stamps.items() if not stamp or known.get(n) != stamp]


def _stamps(env: BuildEnvironment) -> dict[str, Stamp | None]:
    """The stamps that Sphinx keeps with its environment, from build to build."""
    if not hasattr(env, "book_stamps"):
        env.book_stamps = {}
    return env.book_stamps
