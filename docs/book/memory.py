"""What has been read of pages is remembered: a build reads again only what has changed.

What a page says, and what code imports, follow from their texts alone; so both are kept
by the texts' digests, for as long as the engine and what it reads with are the same.
What was found in a built file is kept for as long as nobody writes that file.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

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
        _write(self._path, (_stamp(), found, imports.NAMED))


def found_in(
    files: Iterable[Path], look: Callable[[str], Any], at: Path, *given: object
) -> dict[Path, Any]:
    """What `look` finds in the text of each file; kept in the file `at`.

    It looks again in a file that was written meanwhile, and in all of them where its
    own module has changed, or what it is `given`.
    """
    stamp = repr((Path(look.__code__.co_filename).read_bytes(), sys.version, given))
    try:
        last, known = pickle.loads(at.read_bytes())
    except Exception:  # a damaged pickle may raise anything
        last, known = None, {}
    known = known if last == stamp else {}
    found = {}
    for path in files:
        stat = path.stat()
        mark = stat.st_ctime_ns, stat.st_size
        there = known.get(path)
        if not there or there[0] != mark:
            there = mark, look(path.read_text(encoding="utf-8", errors="replace"))
        found[path] = there
    if found != known:
        _write(at, (stamp, found))
    return {path: what for path, (_, what) in found.items()}


def _write(path: Path, what: object) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(what))
    os.replace(part, path)


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
