"""What is remembered of each page from one build to the next.

Sphinx keeps its environment in a file.  A collector that remembers something of pages
has to forget it when a page is gone or read anew, and with `-j` to take over what other
processes have found: that is here, once.
"""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors import EnvironmentCollector

T = TypeVar("T")


class PageMemory(EnvironmentCollector, Generic[T]):
    """A collector that keeps a `T` for each page, by the page's name."""

    attribute: ClassVar[str]  # of Sphinx's environment, where it is kept

    @classmethod
    def known(cls, env: BuildEnvironment) -> dict[str, T]:
        """What is remembered, by the names of pages; to be read and changed."""
        if not hasattr(env, cls.attribute):
            setattr(env, cls.attribute, {})
        return getattr(env, cls.attribute)

    def clear_doc(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Forget a page that is gone, or is about to be read."""
        self.known(env).pop(docname, None)

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Remember a page that has been read; a subclass does where it can."""

    def merge_other(
        self,
        app: Sphinx,
        env: BuildEnvironment,
        docnames: set[str],
        other: BuildEnvironment,
    ) -> None:
        """With `-j`: take over what another process has found on its pages."""
        found = self.known(other)
        self.known(env).update({name: found[name] for name in docnames & found.keys()})
