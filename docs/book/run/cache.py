"""No page ever shows output from other code, another JAX or another machine.

A folder per fingerprint of the hardware, a file per page and key.  The key is made of
what the page runs: its cells, the errors it declares, and every file of the repository
that it imports or shows.  Prose and display tags are no part of it.  Files appear by
rename and carry their own checksum, so a build that is killed leaves nothing half
written, and two builds may share a cache.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from book.pages import Page, Problem
from book.targets import Hardware

FORMAT = 2  # raise it when what is stored, or how cells are run, changes
KEPT = 3  # files a page keeps in each folder, so that going back is free


@dataclass(frozen=True)
class Entry:
    """What a page put out when it ran: a list of nbformat outputs for each cell."""

    outputs: list[list[dict]]
    executed: str
    seconds: float


def imported(source: str, roots: tuple[Path, ...]) -> set[Path]:
    """The files under `roots` that running `source` imports, however indirectly."""
    seen: set[Path] = set()
    todo = list(_direct(source, roots))
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            todo.extend(_direct(path.read_text(encoding="utf-8"), roots))
    return seen


@cache
def _direct(source: str, roots: tuple[Path, ...]) -> tuple[Path, ...]:
    found: list[Path] = []
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            found.extend(_files(name.split("."), roots))
    return tuple(found)


def _files(parts: list[str], roots: tuple[Path, ...]) -> Iterator[Path]:
    """`a.b.c` may import a/__init__.py, a/b/__init__.py, and a/b/c.py or a/b.py."""
    for root in roots:
        for depth in range(1, len(parts) + 1):
            stem = root.joinpath(*parts[:depth])
            for path in (stem / "__init__.py", stem.with_suffix(".py")):
                if path.is_file():
                    yield path


def key(page: Page, roots: tuple[Path, ...]) -> str:
    """Everything that decides what `page` puts out, the hardware apart.

    Raises `Problem` when a cell, or a file that it imports, is not Python.
    """
    files = {listing.path for listing in page.listings if listing.path.is_file()}
    for cell in page.cells:
        try:
            files |= imported(cell.source, roots)
        except SyntaxError as error:
            at = f" on line {error.lineno}" if error.lineno else ""
            raise Problem(
                page.name, f"is not Python{at}: {error.msg}", cell.line, cell.number
            ) from None
    digest = hashlib.sha256(f"{FORMAT} {page.kernel}".encode())
    for cell in page.cells:
        digest.update(
            repr((cell.source.rstrip(), cell.raises, cell.check, cell.fresh)).encode()
        )
    for path in sorted(files):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:20]


class Cache:
    """Outputs of pages on one kind of hardware; `dropped` lists what it threw away."""

    def __init__(self, folder: Path, hardware: Hardware):
        self.root = folder
        self.folder = folder / hardware.fingerprint
        self.dropped: list[str] = []

    def _path(self, name: str, key: str) -> Path:
        return self.folder / f"{name.replace('/', '~')}.{key}.json"

    def get(self, page: Page, key: str) -> Entry | None:
        """What `page` put out when its key was `key`; None when it must run."""
        path = self._path(page.name, key)
        try:
            checksum, body = path.read_text(encoding="utf-8").split("\n", 1)
            if checksum != hashlib.sha256(body.encode()).hexdigest():
                raise ValueError("checksum")
            entry = Entry(**json.loads(body))
            if len(entry.outputs) != len(page.cells):
                raise ValueError("length")
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, OSError):
            path.unlink(missing_ok=True)
            self.dropped.append(page.name)
            return None
        return entry

    def put(self, page: Page, key: str, entry: Entry) -> None:
        """Keep `entry`; the file appears whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        body = json.dumps(vars(entry), sort_keys=True)
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(hashlib.sha256(body.encode()).hexdigest() + "\n" + body)
        os.replace(name, self._path(page.name, key))
        for old in self._newest(self.folder, page.name)[KEPT:]:
            old.unlink(missing_ok=True)

    def seconds(self, page: Page) -> float:
        """How long `page` took last, anywhere; else a guess from its budget."""
        for folder in sorted(self.root.glob("*/"), key=lambda f: f != self.folder):
            for path in self._newest(folder, page.name)[:1]:
                try:
                    return json.loads(path.read_text().split("\n", 1)[1])["seconds"]
                except (OSError, ValueError, LookupError):
                    continue
        return page.budget / 5

    @staticmethod
    def _newest(folder: Path, name: str) -> list[Path]:
        found = folder.glob(f"{name.replace('/', '~')}.*.json")
        return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
