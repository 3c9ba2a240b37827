"""An IPython extension: where `check` of an exercise fails, known mistakes are named.

`said.json`, beside the exercises, has what `check` says of each mistake that they know.
Where a cell fails with such a sentence, the mistakes that lead to it stand below the
error.  Others may lead to it, too, and the note says so.

`nox -s play` loads it into each kernel.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from book.source.exercises import mistakes

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

EXERCISES = Path(__file__).parents[3] / "examples" / "exercises"
NOTE = "check says the same of this, and your mistake may be another:"


@cache
def known(exercises: Path = EXERCISES) -> dict[str, list[str]]:
    """Return what mistakes say of themselves, by the sentence with which `check` fails.

    Several mistakes may lead to one sentence.
    """
    found: dict[str, list[str]] = {}
    sentences = json.loads((exercises / "said.json").read_text(encoding="utf-8"))
    for name, by_mistake in sentences.items():
        explained = mistakes((exercises / f"{name}.py").read_text(encoding="utf-8"))
        for mistake, sentence in by_mistake.items():
            if thought := explained.get(mistake):
                found.setdefault(_plain(sentence), []).append(thought)
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
        error.add_note(f"{NOTE} {thought}")
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Let `shell` name mistakes where an assertion fails; IPython calls this."""
    shell.set_custom_exc((AssertionError,), name_mistakes)
