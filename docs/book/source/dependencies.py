"""Which files of the repository code imports, found without running it.

The cache asks, whose keys hold every file that a page imports, and the slicer, whose
programs write out what a cell takes from such files.  `roots` are the folders that
imports start from.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from book.source.kept_results import kept


class NotPython(Exception):
    """A file that code imports is not Python, or not UTF-8; the message names it."""


class Unclear(Exception):
    """An import from the repository that could be written more plainly."""


def parse(source: str) -> ast.Module:
    """The syntax tree of `source`; raises `SyntaxError`, whatever is wrong."""
    try:
        return _parsed(source)
    except (RecursionError, MemoryError):
        raise SyntaxError("it is nested too deeply; write a loop") from None
    except ValueError as error:  # a null byte
        raise SyntaxError(str(error)) from None


# Enough for all code of a page; thousands of trees would slow down every build.
_parsed = lru_cache(maxsize=512)(ast.parse)


def read_module(path: Path, roots: tuple[Path, ...]) -> str:
    """The text of a module; raises `NotPython`."""
    try:
        source = path.read_text(encoding="utf-8")
        _named(source)
    except UnicodeDecodeError:
        raise NotPython(f"{label(path, roots)} is not UTF-8") from None
    except SyntaxError as error:
        where = f"{label(path, roots)}, line {error.lineno or 1},"
        raise NotPython(f"{where} is not Python: {error.msg}") from None
    return source


@cache  # asked for every name that is imported
def label(path: Path, roots: tuple[Path, ...]) -> str:
    """What messages call the file at `path`."""
    folders = [root for root in roots if path.is_relative_to(root)]
    return path.relative_to(folders[0]).as_posix() if folders else path.name


@cache  # asked ten thousand times by a build, which changes no file
def find_module(module: str, roots: tuple[Path, ...]) -> Path | None:
    """The file under `roots` that `import module` runs last; None if there is none."""
    for root in roots:  # joined as strings, which is quick
        stem = os.path.join(root, *module.split("."))
        for path in (f"{stem}.py", os.path.join(stem, "__init__.py")):
            if os.path.isfile(path):
                return Path(path)
    return None


def is_local(module: str, roots: tuple[Path, ...]) -> bool:
    """Whether a module, or the folder that it should be in, is under `roots`."""
    top = module.split(".")[0]
    if find_module(top, roots):
        return True
    return any(path for root in roots for path in (root / top).rglob("*.py"))


def imported_module(
    node: ast.Import | ast.ImportFrom, roots: tuple[Path, ...]
) -> Path | None:
    """The file under `roots` that an import statement takes names from; None if none.

    Raises `Unclear` unless it says `from a.b import name`.
    """
    text = ast.unparse(node)
    from_module = node.module if isinstance(node, ast.ImportFrom) else None
    names = [from_module or alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level:
        raise Unclear(f"`{text}` is relative; name the whole path")
    if not any(is_local(name, roots) for name in names):
        return None
    if not from_module:
        instead = f"write `from {names[0]} import …` with the names it needs"
        raise Unclear(f"`{text}` imports a module; {instead}")
    for alias in node.names:
        if find_module(f"{from_module}.{alias.name}", roots):
            instead = f"write `from {from_module}.{alias.name} import …`"
            raise Unclear(f"`{text}` imports a module; {instead}")
    found = find_module(from_module, roots)
    if not found:
        raise Unclear(f"`{text}`: there is no module {from_module}")
    return found


def imported_files(source: str, roots: tuple[Path, ...], *known: Path) -> set[Path]:
    """The files under `roots` that running `source` imports, however indirectly.

    `known` files are among them, with all that they import, and are not read again.
    Raises `SyntaxError` for `source` itself, `NotPython` for a file.
    """
    seen = set(known)
    todo = list(_direct(source, roots))
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            todo += _direct(read_module(path, roots), roots)
    return seen


def _direct(source: str, roots: tuple[Path, ...]) -> Iterator[Path]:
    """The files under `roots` that the imports in `source` itself name."""
    for module in _named(source):
        if path := find_module(module, roots):
            yield path


@kept
def _named(source: str) -> frozenset[str]:
    """What an import may run: `from a.b import c` runs a, a.b, and perhaps a.b.c.

    Raises `SyntaxError`.
    """
    found: set[str] = set()
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = (name.split(".") for name in found)
    return frozenset(".".join(p[:k]) for p in parts for k in range(1, len(p) + 1))
