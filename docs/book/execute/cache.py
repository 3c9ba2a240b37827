"""The outputs of pages on disk, so that a page runs only when it has to.

No page ever shows output from other code, another JAX or another machine: there is a
folder for each fingerprint of the hardware, and a file for each page and key.  The key
is made of what the page runs: its cells, the errors it declares, every file of the
repository that it imports or shows, and the versions of the packages it imports.  Prose
and display tags are no part of it.  What else of the repository a page read as it ran
is kept with its outputs, and they count only while that is the same.  Files appear by
rename and carry their own checksum, so a build that is killed leaves nothing half
written, and two builds may share a cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import (
    PackageNotFoundError,
    packages_distributions,
    version,
)
from importlib.util import find_spec, source_from_cache
from pathlib import Path

from book.files import digest_of, write_atomically
from book.hardware.targets import Hardware
from book.source.commands import files_run_by
from book.source.dependencies import NotPython, imported_files
from book.source.model import Page
from book.state import Problem

FORMAT = 7  # raise it when what is stored, or how cells are run, changes
FILES_A_PAGE = 3  # in each folder, those used last: going back to older code is free
# What is not installed by its own name; what is missing here is found, but slowly.
DISTRIBUTIONS = {"absl": "absl-py", "orbax": "orbax-checkpoint"}
_ENGINE = Path(__file__).parent
IMPORTED_BY_JAX = {"numpy", "ml_dtypes", "scipy", "opt_einsum"}


@dataclass(frozen=True)
class Entry:
    """What a page put out when it ran: a list of nbformat outputs for each cell."""

    outputs: list[list[dict]]
    executed: str
    seconds: float
    # Digests of the files of the repository that it opened as it ran, by their paths.
    read: dict[str, str | None] = field(default_factory=dict)


def digests(paths: Iterable[Path], root: Path) -> dict[str, str | None]:
    """Digests of those of the `paths` that belong to the repository at `root`.

    What is built, and installed in a folder there, does not; None is for no file.
    """
    found = {}
    for path in sorted(paths):
        if path.parent.name == "__pycache__":
            with suppress(ValueError):
                path = Path(source_from_cache(str(path)))
        name = path.relative_to(root)
        made = {"_build", "site-packages"} & set(name.parts)
        hidden = any(part.startswith(".") for part in name.parts)
        # Errors show lines of the engine that runs a page.
        if not made and not hidden and _ENGINE not in path.parents:
            found[name.as_posix()] = digest_of(path)
    return found


def key(page: Page, roots: tuple[Path, ...]) -> str:
    """A digest of everything that decides what `page` puts out, the hardware apart.

    `roots` are the folders it imports from.  Raises `Problem` when a cell, or a file
    that it imports, is not Python.
    """
    files = _imported(page, roots)
    digest = hashlib.sha256(f"{FORMAT} {page.kernel}".encode())
    for cell in page.cells:
        runs = cell.source.rstrip(), cell.raises, cell.check, cell.fresh
        digest.update(repr(runs).encode())
    files |= {listing.path for listing in page.listings if listing.path.is_file()}
    code = [cell.source.encode() for cell in page.cells]
    for path in sorted(files):
        code.append(path.read_bytes())
        digest.update(f"{path.name}\0".encode() + code[-1])
    digest.update(repr(versions(b"\n".join(code))).encode())
    return digest.hexdigest()[:20]


def _imported(page: Page, roots: tuple[Path, ...]) -> set[Path]:
    """The files that the cells of `page` import or run; raises `Problem`."""
    files: set[Path] = set()
    for cell in page.cells:
        try:
            files = imported_files(cell.source, roots, *files)
            files |= files_run_by(cell.source, roots)
        except SyntaxError as error:
            at = f" on line {error.lineno}" if error.lineno else ""
            reason = f"is not Python{at}: {error.msg}"
            raise Problem(page.name, reason, cell.line, cell.number) from None
        except LookupError as error:
            raise Problem(page.name, str(error), cell.line, cell.number) from None
        except NotPython as error:
            reason = f"what it imports cannot be read: {error}"
            raise Problem(page.name, reason) from None
    return files


def versions(code: bytes) -> list[tuple[str, str]]:
    """The installed packages that `code` imports, and those that JAX does."""
    lines = re.findall(rb"^\s*(?:from|import)\s+([\w., ]+)", code, re.MULTILINE)
    named = {word.decode() for line in lines for word in re.findall(rb"\w+", line)}
    named -= sys.stdlib_module_names
    found = ((name, _version(name)) for name in sorted(named | IMPORTED_BY_JAX))
    return [(name, number) for name, number in found if number]


@cache
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        if not _is_installed(name):
            return None
    found = [DISTRIBUTIONS[name]] if name in DISTRIBUTIONS else _distributions()[name]
    return " ".join(f"{one} {version(one)}" for one in sorted(set(found)))


def _is_installed(name: str) -> bool:
    """Whether `import name` finds what is no part of Python or of the book."""
    spec = find_spec(name)
    places = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
    return any(place and "site-packages" in place for place in places)


@cache
def _distributions() -> Mapping[str, list[str]]:
    """The packages of all names that can be imported, which takes a while."""
    return defaultdict(list, packages_distributions())


class Cache:
    """Outputs of pages on one kind of hardware; `dropped` lists what it threw away.

    `caches` is the folder of all of them; `repository` that of the files pages read.
    """

    def __init__(self, caches: Path, hardware: Hardware, repository: Path = Path()):
        self.caches, self.repository = caches, repository
        self.folder = caches / hardware.fingerprint
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
        now = {name: digest_of(self.repository / name) for name in entry.read}
        if entry.read != now:
            return None
        with suppress(OSError):
            os.utime(path)
        return entry

    def put(self, page: Page, key: str, entry: Entry) -> None:
        """Keep `entry`; raises OSError, with the file's name, where it cannot."""
        body = json.dumps(vars(entry), sort_keys=True)
        checksum = hashlib.sha256(body.encode()).hexdigest()
        write_atomically(self._path(page.name, key), f"{checksum}\n{body}")
        for old in self._newest(self.folder, page.name)[FILES_A_PAGE:]:
            old.unlink(missing_ok=True)

    def seconds(self, page: Page) -> float:
        """How long `page` took last, anywhere; else a guess from its budget."""
        others = [path for path in self.caches.glob("*/") if path != self.folder]
        for folder in [self.folder, *others]:
            for path in self._newest(folder, page.name)[:1]:
                try:
                    _, body = path.read_text(encoding="utf-8").split("\n", 1)
                    return float(json.loads(body)["seconds"])
                except (OSError, ValueError, TypeError, LookupError):
                    continue
        return page.budget / 5

    @staticmethod
    def _newest(folder: Path, name: str) -> list[Path]:
        """The files of a page in `folder`, the one used last first."""
        found = folder.glob(f"{name.replace('/', '~')}.*.json")
        return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
