"""What a build reported about a page stays open until a later one finds it gone.

Sphinx reads and writes only what has changed, so it gives a warning once: the next
build, which has nothing to do, would pass.  The pages that a build had something to say
about are noted beside its doctrees, and the next one reads and writes them again.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import NAMESPACE, get_node_location, is_suppressed_warning

from book.files import write_atomically
from book.state import book_of

_FILE = "open-reports.json"
_WORD = re.compile(r"[\w./~-]*[\w~-]")


class OpenReports(logging.Handler):
    """A handler of log records that notes which pages warnings are about.

    A warning that names no page may be about any of them: `everywhere`.
    """

    def __init__(self, app: Sphinx):
        super().__init__(logging.WARNING)
        self.app, self.pages, self.everywhere = app, set[str](), False

    def emit(self, record: logging.LogRecord) -> None:
        """Note the pages that a warning is about, or that it mentions."""
        kind = getattr(record, "type", ""), getattr(record, "subtype", "")
        if is_suppressed_warning(*kind, self.app.config.suppress_warnings):
            return
        pages = self._located(getattr(record, "location", None))
        for word in _WORD.findall(record.getMessage()):
            pages |= self._called(word)
        self.pages |= pages
        self.everywhere |= not pages

    def _located(self, location: object) -> set[str]:
        """The pages that a location, as Sphinx gives it, is on."""
        if isinstance(location, tuple):
            location = location[0]
        elif isinstance(location, nodes.Node):
            location = get_node_location(location)
        if not isinstance(location, str):
            return set()
        return self._called(re.sub(r":\d*$", "", location).removesuffix(":"))

    def _called(self, name: str) -> set[str]:
        """The pages that `name` names, or the path of whose file, or included one."""
        env = getattr(self.app, "env", None)
        if env is None:
            return set()
        if name in env.found_docs:
            return {name}
        if "." not in name:
            return set()
        page = env.path2doc(name)
        if page in env.found_docs or page in book_of(self.app).states:
            return {str(page)}
        path = (env.srcdir / name).resolve()
        return {
            page
            for page, files in env.dependencies.items()
            if page in env.found_docs
            and any((env.srcdir / file).resolve() == path for file in files)
        }


def listen(app: Sphinx) -> None:
    """Note from now on what is reported."""
    logger = logging.getLogger(NAMESPACE)
    for handler in logger.handlers[:]:
        if isinstance(handler, OpenReports):  # of another build in this process
            logger.removeHandler(handler)
    app.book_reports = OpenReports(app)
    logger.addHandler(app.book_reports)


def outdated(app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> list[str]:
    """The pages that the last build had something to say about."""
    try:
        kept = json.loads((Path(app.doctreedir) / _FILE).read_text(encoding="utf-8"))
        return list(env.found_docs) if kept["everywhere"] else list(kept["pages"])
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, LookupError):
        return list(env.found_docs)


def keep(app: Sphinx, exception: Exception | None) -> None:
    """Keep what this build reported; after one that broke off, all is read anyway."""
    if exception is None:
        reports = app.book_reports
        found = {"everywhere": reports.everywhere, "pages": sorted(reports.pages)}
        write_atomically(Path(app.doctreedir) / _FILE, json.dumps(found))
