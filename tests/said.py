"""What `check` of each exercise says of its mistakes: `python -m tests.said [NAME...]`.

It writes `examples/exercises/said.json`, which pages show below an exercise.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from book.source.exercises import PREFIX, mistakes

FOLDER = Path(__file__).parents[1] / "examples" / "exercises"
FILE = FOLDER / "said.json"
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def names() -> list[str]:
    """The names of all exercises."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def load(name: str) -> ModuleType:
    """Import the exercise `name`."""
    return importlib.import_module(f"examples.exercises.{name}")


def mistakes_of(name: str) -> dict[str, str]:
    """What each mistake of the exercise `name` says of itself, in order."""
    return mistakes((FOLDER / f"{name}.py").read_text(encoding="utf-8"))


def objection(exercise: ModuleType, attempt: Any) -> str | None:
    """What `check` says against `attempt`; None when it says nothing."""
    try:
        exercise.check(attempt)
    except AssertionError as error:
        return str(error)
    return None


def said(name: str) -> dict[str, str | None]:
    """What `check` of the exercise `name` says of each mistake; None of none.

    Raises ValueError where that names an address, which is another in each run.
    """
    exercise = load(name)
    found = {}
    for mistake in mistakes_of(name):
        text = objection(exercise, getattr(exercise, PREFIX + mistake))
        if text and ADDRESS.search(text):
            raise ValueError(
                f"examples/exercises/{name}.py: of {PREFIX}{mistake}, check says "
                f"{text!r}; an address is another in each run: say a name instead"
            )
        found[mistake] = text
    return found


def main(wanted: list[str]) -> None:
    """Write what is said of the mistakes of the exercises `wanted`, or of all.

    One may be called as its page is: `mesh/transpose`.
    """
    every, wanted = names(), [name.rpartition("/")[2] for name in wanted]
    if unknown := sorted({*wanted} - {*every}):
        sys.exit(f"there is no exercise {', '.join(unknown)} in examples/exercises")
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    for name in wanted or every:
        kept[name] = said(name)
        if wanted:
            print(f"{name}: what check says of {len(kept[name])} mistakes is kept")
    ordered = {name: kept[name] for name in every if name in kept}
    text = json.dumps(ordered, indent=2, ensure_ascii=False)
    FILE.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
