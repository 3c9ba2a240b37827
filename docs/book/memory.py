"""What has been read of pages is remembered: a build reads again only what has changed.

What a page says, and what code imports, follow from their texts alone; so both are kept
by the texts' digests, for as long as the engine and what it reads with are the same.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from book import front, imports, markdown, pages, parts
from book.pages import Page, read

_READERS = (front, imports, markdown, pages, parts)
_PACKAGES = ("markdown-it-py", "mdit-py-plugins", "myst-parser", "PyYAML")


class Memory:
    """Pages as the last build read them, in the file at `path`."""

    def __init__(self, path: Path):
        self._path, self._new = path, False
        self._pages: dict[str, tuple[str, Page]]
        self._pages, imports.KNOWN = _load(path)

    def page(self, path: Path, name: str) -> Page:
        """The page called `name`; raises `Problem`."""
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        known, page = self._pages.get(name, (None, None))
        if known != digest or page.path != path or _includes(page):
            page = read(path, name)
            self._pages[name], self._new = (digest, page), True
        return page

    def keep(self, names: set[str]) -> None:
        """Keep the pages called `names`, and what the code of this build imports."""
        if not self._new and imports.NAMED == imports.KNOWN:
            return
        found = {k: v for k, v in self._pages.items() if k in names}
        for _, page in found.values():
            with suppress(SyntaxError):  # the page has a problem, and keeps it
                for cell in page.cells:
                    cell.assertions  # noqa: B018 - counted once, kept with the cell
        part = self._path.with_suffix(".part")
        part.write_bytes(pickle.dumps((_stamp(), found, imports.NAMED)))
        os.replace(part, self._path)


def _includes(page: Page) -> bool:
    """Whether it depends on more than its own text."""
    return any(fence.name == "include" for fence in page.fences)


def _load(path: Path) -> tuple[dict, dict]:
    """What is kept; nothing where that is damaged, or of another engine."""
    try:
        stamp, *known = pickle.loads(path.read_bytes())
        return tuple(known) if stamp == _stamp() else ({}, {})
    except Exception:  # a damaged pickle may raise anything
        return {}, {}


def _stamp() -> str:
    """A digest of all that decides how a text is read."""
    texts = [Path(module.__file__).read_bytes() for module in _READERS]
    numbers = [sys.version, *map(version, _PACKAGES)]
    return hashlib.sha256(b"\0".join([*texts, repr(numbers).encode()])).hexdigest()
