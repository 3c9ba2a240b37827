"""An IPython extension: where `check` of an exercise fails, known mistakes are named.

The exercises in `examples/exercises` have functions `mistake_*`, whose docstrings say
what went wrong.  `said.json` beside them has what `check` says of each.  Where a cell
fails with such a sentence, the mistakes that lead to it stand below the error.

`nox -s play` loads it into each kernel.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

EXERCISES = Path(__file__).parents[3] / "examples" / "exercises"
PREFIX = "mistake_"


@cache
def known(exercises: Path = EXERCISES) -> dict[str, list[str]]:
    """Return what mistakes say of themselves, by the sentence with which `check` fails.

    Several mistakes may lead to one sentence.
    """
    found: dict[str, list[str]] = {}
    sentences = json.loads((exercises / "said.json").read_text(encoding="utf-8"))
    for name, by_mistake in sentences.items():
        tree = ast.parse((exercises / f"{name}.py").read_text(encoding="utf-8"))
        explained = {
            node.name: ast.get_docstring(node) or ""
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
        }
        for mistake, sentence in by_mistake.items():
            thought = explained.get(PREFIX + mistake, "").partition("\n\n")[0]
            if thought:
                found.setdefault(_plain(sentence), []).append(_plain(thought))
    return found


def _plain(text: str) -> str:
    """Return the text on one line."""
    return " ".join(text.split())


def name_mistakes(
    shell: InteractiveShell,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Show the error of a cell, with the known mistakes that lead to it as notes."""
    for thought in known().get(_plain(str(error)), []):
        error.add_note(f"A known mistake: {thought}")
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Let `shell` name mistakes where an assertion fails; IPython calls this."""
    shell.set_custom_exc((AssertionError,), name_mistakes)
