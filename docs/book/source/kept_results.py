"""What was found out about a text is kept, from one build to the next.

To parse all pages, and all Python that they import, takes longer than everything else
that a build without a change does.  What a parser finds in a text never changes, so it
is kept beside Sphinx's environment, under a digest of the text:

    @kept
    def headings(text):
        ...
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, cast

from book.files import write_atomically

F = TypeVar("F", bound=Callable[..., Any])
_FILE = "kept-results.pickle"
_PARSERS = ("myst-parser", "markdown-it-py", "pyyaml")  # and Python's own

_known: dict[str, Any] = {}  # a digest of function and arguments -> what it returned
_loaded: set[str] = set()  # which of them the last build had found out
_used: set[str] = set()  # which of them this build has asked for


def kept(function: F) -> F:
    """A decorator for a function whose arguments alone decide what it returns.

    They are strings, paths, and tuples of these.  Nothing is kept where it raises.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def ask(*arguments: object) -> Any:
        digest = hashlib.sha256(repr((name, *arguments)).encode()).hexdigest()
        if digest not in _known:
            _known[digest] = function(*arguments)
        _used.add(digest)
        return _known[digest]

    return cast(F, ask)


def load(folder: Path) -> None:
    """Begin a build with what the last one found out, and kept in `folder`."""
    for one in (_known, _loaded, _used):
        one.clear()
    try:
        found_by, results = pickle.loads((folder / _FILE).read_bytes())
    except Exception:  # there is none, or a damaged one: all is parsed again
        return
    if found_by == _parsers():
        _known.update(results)
        _loaded.update(results)


def save(folder: Path) -> None:
    """Keep what this build has asked for in `folder`, for the next one."""
    if _used != _loaded:
        results = {digest: _known[digest] for digest in _used}
        content = pickle.dumps((_parsers(), results))
        write_atomically(folder / _FILE, content)


@functools.cache
def _parsers() -> str:
    """A digest of what parses: Python, packages, and the engine's own files."""
    digest = hashlib.sha256(sys.version.encode())
    for package in _PARSERS:
        digest.update(f"{package} {version(package)}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
