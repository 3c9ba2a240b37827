"""What a page consists of: headings, fences, code cells, listings, answers.

`book.source.parser` makes them from the Markdown of a page.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from book.source.dependencies import parse
from book.source.kept_results import kept

_CHECK = re.compile(
    r"^from examples\.exercises\.(\w+) import .*\bcheck\b", re.MULTILINE
)


@dataclass(frozen=True)
class Heading:
    """A heading; `slug` is its address on the page."""

    line: int
    level: int
    text: str
    slug: str


@dataclass(frozen=True)
class Fence:
    """A directive (`name`, `argument`, `options`) or a block of code (no `name`)."""

    line: int
    last: int
    info: str
    name: str
    argument: str
    options: dict[str, Any] = field(repr=False)
    body: tuple[str, ...] = field(repr=False)
    first: int  # the line on which the body begins
    bad: str | None = None  # what is wrong with the options


@dataclass(frozen=True)
class Cell:
    """A code cell: its code, where it stands, and how it is run and shown.

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
    mystnb: dict[str, Any] = field(default_factory=dict, compare=False)
    span: tuple[int, int] = (0, 0)

    @property
    def visible(self) -> bool:
        """Whether it is a lesson, whose code can be read, perhaps after unfolding."""
        return not self.check and not self.tags & {"remove-input", "remove-cell"}

    @property
    def exercise(self) -> str | None:
        """The exercise whose `check` it imports, such as "by_hand"; None of another."""
        found = _CHECK.search(self.source) if self.visible else None
        return found[1] if found else None

    @cached_property
    def assertions(self) -> int:
        """How much it holds: `assert` statements, `assert_...` calls, and an error."""
        held = count_assertions(self.source) if "assert" in self.source else 0
        return held + (1 if self.raises else 0)


@kept
def count_assertions(source: str) -> int:
    """How many `assert` statements and `assert_...` calls there are in Python code."""
    count = 0
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Assert):
            count += 1
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            count += called.startswith("assert_")
    return count


@dataclass(frozen=True)
class Listing:
    """A file of the repository that a page shows, or one object of that file.

    It is written as a `literalinclude`; `pyobject` is None where all is shown.
    """

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
    """The error message that a page in `errors/` is about.

    `called` are the public functions that a reader had called, as in `jax.vmap`;
    `words` the characteristic ones of the message, without a reader's own numbers.
    One that is `general` has nothing to do with maps, meshes and several devices.
    """

    called: tuple[str, ...]
    words: str
    general: bool = False


@dataclass(frozen=True)
class Page:
    """A page as its author wrote it; `kernel` is None where nothing runs.

    `kind` may be None where nothing runs, as on a list of words.  `prose` are the
    numbered lines of text, headings and directives' options apart; `needs` the lessons
    that it builds on, with the lines that say so.
    """

    name: str
    path: Path
    text: str = field(repr=False)
    kernel: str | None = None
    budget: float = 0.0  # seconds that its cells may take
    kind: str | None = None
    short: str | None = None  # what the sidebar calls it
    needs: tuple[tuple[int, str], ...] = ()
    answers: tuple[Answer, ...] = ()
    error: Raised | None = None
    cells: tuple[Cell, ...] = ()
    listings: tuple[Listing, ...] = ()
    fences: tuple[Fence, ...] = field(default=(), repr=False)
    headings: tuple[Heading, ...] = field(default=(), repr=False)
    prose: tuple[tuple[int, str], ...] = field(default=(), repr=False)
    front: dict[str, Any] = field(default_factory=dict, repr=False)
    ends: int = 0  # the last line of the front matter

    @property
    def title(self) -> str:
        """Its first heading, as Markdown; its name where it has none."""
        for heading in self.headings:
            if heading.level == 1:
                return heading.text
        return self.name

    @cached_property
    def toctree(self) -> list[str]:
        """The pages in its tables of contents (directives `toctree`)."""
        folder = PurePosixPath("/", self.name).parent
        found = []
        for fence in self.fences:
            if fence.name == "toctree":
                for line in fence.body:
                    entry = re.sub(r".*<(.*)>\s*$", r"\1", line).strip()
                    if entry:
                        page = folder / entry.removesuffix(".md")
                        found.append(str(page).lstrip("/"))
        return found

    def text_and_cells(self) -> list[tuple[int, str] | Cell]:
        """Its cells, and between them the text: (lines above it, text)."""
        lines = self.text.splitlines()
        found: list[tuple[int, str] | Cell] = []
        start = self.ends
        for cell in (*self.cells, None):
            end = cell.span[0] - 1 if cell else len(lines)
            while start < end and not lines[start].strip():
                start += 1
            text = "\n".join(lines[start:end]).rstrip()
            if text:
                found.append((start, text))
            if cell:
                found.append(cell)
                start = cell.span[1]
        return found
