"""What a page is made of: cells, listings, answers; and what can be wrong with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from book.source.dependencies import parsed
from book.source.markdown import Fence
from book.state import Problem

DISPLAY_TAGS = frozenset(
    f"{verb}-{what}"
    for verb in ("hide", "remove")
    for what in ("input", "output", "cell")
)
FLAGS = ("check", "fresh", "alone", "varies")
_BY_LINES = {"lines", "lineno-match", "start-at", "end-at"}
_ERROR = re.compile(r"[A-Za-z_][\w.]*\s*(:|$)")


@dataclass(frozen=True)
class Cell:
    """One code cell: its code, where it stands, and how it is run and shown.

    `span` are the first and last line of its fence; `mystnb` is for MyST-NB.
    """

    number: int
    line: int
    source: str
    tags: frozenset[str] = frozenset()
    raises: str | None = None
    alone: bool = False  # it measures, so nothing else may run meanwhile
    check: bool = False  # it proves what a lesson shows, and no program has it
    fresh: bool = False  # it is a program of its own, in a Python of its own
    varies: bool = False  # each run shows something else, so a copy of it does too
    mystnb: dict = field(default_factory=dict, compare=False)
    span: tuple[int, int] = (0, 0)

    @property
    def visible(self) -> bool:
        """Whether it is a lesson, whose code can be read, perhaps after unfolding."""
        return not self.check and not self.tags & {"remove-input", "remove-cell"}

    @cached_property
    def assertions(self) -> int:
        """How much it holds: `assert` statements, `assert_...` calls, and an error."""
        nodes = [*ast.walk(parsed(self.source))]
        held = sum(isinstance(node, ast.Assert) for node in nodes)
        calls = [node.func for node in nodes if isinstance(node, ast.Call)]
        names = [getattr(f, "attr", getattr(f, "id", "")) for f in calls]
        called = sum(name.startswith("assert_") for name in names)
        return held + called + bool(self.raises)


@dataclass(frozen=True)
class Listing:
    """One `literalinclude`: the file, and the object of it that is shown."""

    number: int
    line: int
    path: Path
    pyobject: str | None = None


@dataclass(frozen=True)
class Answer:
    """A question in a reader's words, and the anchor of the section that answers."""

    question: str
    at: str


@dataclass(frozen=True)
class Raised:
    """What a page of the shelf of errors is about.

    `called` are the public functions that a reader had called, as in `jax.vmap`;
    `words` the characteristic ones of the message, without a reader's own numbers.
    """

    called: tuple[str, ...]
    words: str


def make_cell(name: str, number: int, fence: Fence, lines: list[str]) -> Cell:
    """The cell of a fence of the page `name`, which has `lines`; raises `Problem`."""
    if wrong := _wrong(fence):
        option, why = wrong
        starts = (f":{option}:", f"{option}:")
        block = range(fence.line, fence.first - 1)
        at = [n + 1 for n in block if option and lines[n].strip().startswith(starts)]
        raise Problem(name, why, at[0] if at else fence.line, number)
    options = fence.options
    return Cell(
        number,
        fence.first,
        "\n".join(fence.body),
        frozenset(options.get("tags", ())),
        options.get("raises"),
        **{flag: options.get(flag, False) is not False for flag in FLAGS},
        mystnb=options.get("mystnb", {}),
        span=(fence.line, fence.last),
    )


def _wrong(fence: Fence) -> tuple[str, str] | None:
    """Which option of a cell is wrong, and why."""
    if fence.bad:
        return "", "its options are not YAML; quote a value with a colon in it"
    options, tags = fence.options, fence.options.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return "tags", "its `tags` are a list, as in `:tags: [hide-input]`"
    known = {*FLAGS, "raises", "mystnb", "tags"}
    for unknown in [*sorted(set(options) - known), *sorted(set(tags) - DISPLAY_TAGS)]:
        why = f"does not know {unknown}; a cell takes {', '.join(FLAGS)}, raises, "
        why += f"mystnb, and the tags {', '.join(sorted(DISPLAY_TAGS))}"
        return (unknown if unknown in options else "tags"), why
    raises = options.get("raises", "Error")
    if not isinstance(raises, str) or not _ERROR.match(raises):
        why = 'its `raises` is a text like "ValueError: a piece of the message"'
        return "raises", why
    if not isinstance(options.get("mystnb", {}), dict):
        return "mystnb", 'its `mystnb` is like {code_prompt_show: "All"}'
    for flag in FLAGS:
        if options.get(flag) not in (None, True, False):
            return flag, f"its `{flag}` takes no value"
    return None


def listings(name: str, path: Path, fences: Iterable[Fence]) -> Iterator[Listing]:
    """The listings among the fences of the page `name`; raises `Problem`."""
    number = 0
    for fence in fences:
        if fence.name == "literalinclude":
            number += 1
            if _BY_LINES & set(fence.options):
                why = "a listing is named, never cut by lines"
                raise Problem(name, why, fence.line)
            shown = (path.parent / fence.argument).resolve()
            yield Listing(number, fence.line, shown, fence.options.get("pyobject"))
