"""Sphinx's HTML builder, changed to go on with the other pages when one fails.

Sphinx stops at the first exception, and no event or setting surrounds the reading or
writing of one page: two methods of its builder are overridden.  Builders are made to
override `write_doc`.  Sphinx marks `read_doc` as final; should it call another method
one day, one failing page stops the build, and tests/build/test_html_builder.py fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ext import add_global_html_resources
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment

from book.build import site_files
from book.build.damaged_files import remove_damaged
from book.state import Problem, book_of


class HTMLBuilder(StandaloneHTMLBuilder):
    """The builder `html`, in which a page that fails is a `Problem` of that page."""

    def __init__(self, app: Sphinx, env: BuildEnvironment):
        super().__init__(app, env)
        self.book = book_of(app)

    def get_outdated_docs(self) -> Iterator[str]:
        """The pages to write: all, where what Sphinx knows of them is damaged.

        And those with a file that is not as the last build left it.
        """
        all_of_them = remove_damaged(Path(self.outdir))
        changed = site_files.remove_changed(self._app, self.env)
        if all_of_them:
            yield from self.env.found_docs
        else:
            yield from changed | set(super().get_outdated_docs())

    def read_doc(self, docname: str, **options: Any) -> None:
        """Read a page; where that fails, read it as one that says no more than so."""
        if docname not in self.env.found_docs:
            return  # not UTF-8: Sphinx could not even open it
        state = self.book.state(docname)
        known = len(state.problems)
        with self.book.blame(docname):
            super().read_doc(docname, **options)
        if len(state.problems) > known:
            state.page = None
            super().read_doc(docname, **options)

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """The address of a page; in English where this language does not have it."""
        uri = super().get_target_uri(docname, typ)
        if docname in self.env.found_docs and not self.book.writes(docname):
            return f"../{uri}"
        return uri

    def write_documents(self, docnames: Set[str]) -> None:
        """Write the pages that this language has."""
        super().write_documents({name for name in docnames if self.book.writes(name)})

    def write_doc(self, docname: str, doctree: nodes.document) -> None:
        """Write a page; where that fails, remove what the last build wrote of it."""
        problems = self.book.state(docname).problems
        known = len(problems)
        with self.book.blame(docname):
            super().write_doc(docname, doctree)
        if len(problems) > known:
            Path(self.get_outfilename(docname)).unlink(missing_ok=True)

    def prepare_writing(self, docnames: Set[str]) -> None:
        """Write MyST-NB's style sheet first: its digest stands in every page.

        MyST-NB writes it last, so pages of a first build would not have it.
        """
        folder = Path(self.outdir, "_static")
        folder.mkdir(exist_ok=True)
        for former in folder.glob("mystnb.*.css"):  # it would not replace a damaged one
            if former.is_file():
                former.unlink()
        add_global_html_resources(self._app, None)
        super().prepare_writing(docnames)

    def copy_assets(self) -> None:
        """Copy static files, unless a folder stands in the place of one."""
        themes = self.theme.get_theme_dirs() if self.theme else []
        sources = [Path(one, "static") for one in themes]
        # Sphinx 9.0, the newest for Python 3.11, knows no folders of extensions.
        sources += map(Path, getattr(self._registry, "static_dirs", ()))
        sources += [Path(self.confdir, one) for one in self.config.html_static_path]
        site_files.refuse_folders(sources, Path(self.outdir, "_static"))
        super().copy_assets()

    def load_indexer(self, docnames: Set[str]) -> None:
        """Load the search index without the words of pages that are gone.

        And with the terms of those that stay as they are, which Sphinx does not load.
        """
        super().load_indexer(docnames)
        if self.indexer:
            self.indexer._index_entries = self._known_terms()
            for pages_of in (self.indexer._mapping, self.indexer._title_mapping):
                for word in [word for word, pages in pages_of.items() if not pages]:
                    del pages_of[word]

    def _known_terms(self) -> dict[str, list[tuple[str, str, str]]]:
        """The terms that the search index of the last build had, of pages it keeps."""
        found: dict[str, list[tuple[str, str, str]]] = {}
        path = Path(self.outdir, self.searchindex_filename)
        if self.indexer and self.indexer._titles:  # it has been loaded
            index = self.indexer_format.loads(path.read_text(encoding="utf-8"))
            for term, places in index["indexentries"].items():
                for number, anchor, is_main in places:
                    name = index["docnames"][number]
                    if name in self.indexer._titles:
                        one = term, anchor, "main" if is_main else ""
                        found.setdefault(name, []).append(one)
        return found

    def dump_search_index(self) -> None:
        """Write the search index, its terms in the order in which all would be read."""
        if self.indexer:
            self.indexer._index_entries = dict(
                sorted(self.indexer._index_entries.items())
            )
        super().dump_search_index()

    def finish(self) -> None:
        """Take note of pages that another process could not write, and has reported."""
        for name in filter(self.book.writes, self.env.found_docs):
            problems = self.book.state(name).problems
            if not problems and not Path(self.get_outfilename(name)).exists():
                problems.append(Problem(name, "could not be written"))
        super().finish()
        # What Sphinx was configured as before is of no use to a reader.
        Path(self.outdir, ".buildinfo.bak").unlink(missing_ok=True)
