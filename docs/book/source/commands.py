"""Which files of the repository a command that a page shows runs.

A page shows `python launch.py 2 hello.py` as a reader types it, in the folder that has
the two files.  Each is found by its name, anywhere in `examples/`, and the cache's keys
hold both, with all that they import.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Collection
from pathlib import Path

from book.source.dependencies import find_module, imported_files, parse, read_module


def named_programs(command: str, roots: Collection[Path]) -> dict[str, Path]:
    """The programs that `command` names, by these names; raises `LookupError`."""
    found = {}
    for word in shlex.split(command):
        if word.endswith(".py"):
            paths = [p for root in roots for p in root.glob(f"examples/**/{word}")]
            every = {path.resolve() for path in paths}
            if len(every) != 1:
                raise LookupError(f"examples/ has {len(every)} files called {word}")
            [found[word]] = every
    return found


def files_run_by(source: str, roots: tuple[Path, ...]) -> set[Path]:
    """The files that the commands in `source` run, and all that these import."""
    found: set[Path] = set()
    for command in _commands(source):
        paths = set(named_programs(command, roots).values())
        modules = {find_module(word, roots) for word in command.split()}
        paths |= {path for path in modules if path}
        for path in paths - found:
            found = imported_files(read_module(path, roots), roots, *found) | {path}
    return found


def _commands(source: str) -> list[str]:
    """The commands that a cell gives to `book.draw.console`."""
    if "console(" not in source:
        return []
    calls = [node for node in ast.walk(parse(source)) if isinstance(node, ast.Call)]
    calls = [call for call in calls if getattr(call.func, "id", "") == "console"]
    found = []
    for command in (call.args[0] for call in calls if call.args):
        if not isinstance(command, ast.Constant) or not isinstance(command.value, str):
            raise LookupError("a command that is shown is a plain text")
        found.append(command.value)
    return found
