"""A page is read once, and what would silently not run is an error with a line.

MyST-NB publishes a page without its outputs when the front matter is broken, and drops
a code cell that sits inside another directive.  Both stop the build here.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import yaml

from book import markdown
from book.markdown import Fence, Heading

KERNELS = ("target", "mesh-of-eight")
KINDS = ("concept", "look-up")
DISPLAY_TAGS = frozenset(
    f"{verb}-{what}"
    for verb in ("hide", "remove")
    for what in ("input", "output", "cell")
)
FLAGS = ("check", "fresh", "alone")
_BY_LINES = {"lines", "lineno-match", "start-at", "end-at"}


@dataclass(eq=False)
class Problem(Exception):
    """What is wrong, where, in words for the person who can fix it.

    `cell` counts the page's code cells from 1; None where no cell is to blame.
    """

    page: str
    reason: str
    line: int | None = None
    cell: int | None = None

    def __str__(self) -> str:
        where = f"{self.page}, cell {self.cell}" if self.cell else self.page
        return f"{where}: {self.reason}"


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
    mystnb: dict = field(default_factory=dict, compare=False)
    span: tuple[int, int] = (0, 0)

    @property
    def visible(self) -> bool:
        """Whether it is a lesson, whose code can be read, perhaps after unfolding."""
        return not self.check and not self.tags & {"remove-input", "remove-cell"}

    @property
    def assertions(self) -> int:
        """How much it holds: `assert` statements, `assert_...` calls, and an error."""
        nodes = [*ast.walk(ast.parse(self.source))]
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
class Page:
    """A page as its author wrote it; `kernel` is None where nothing runs.

    `kind` is None on a page of the first edition.  `prose` are the numbered lines of
    text, headings and directives' options apart; `toctree` the pages it leads to.
    """

    name: str
    path: Path
    text: str = field(repr=False)
    kernel: str | None = None
    budget: float = 0.0
    kind: str | None = None
    answers: tuple[Answer, ...] = ()
    cells: tuple[Cell, ...] = ()
    listings: tuple[Listing, ...] = ()
    fences: tuple[Fence, ...] = field(default=(), repr=False)
    headings: tuple[Heading, ...] = field(default=(), repr=False)
    prose: tuple[tuple[int, str], ...] = field(default=(), repr=False)
    front: dict = field(default_factory=dict, repr=False)
    ends: int = 0  # the last line of the front matter

    @property
    def toctree(self) -> list[str]:
        """The pages in its toctrees."""
        folder, found = PurePosixPath("/", self.name).parent, []
        for fence in self.fences:
            for entry in fence.body if fence.name == "toctree" else ():
                if entry := re.sub(r".*<(.*)>\s*$", r"\1", entry).strip():
                    found.append(str(folder / entry.removesuffix(".md")).lstrip("/"))
        return found

    def pieces(self) -> list[tuple[int, str] | Cell]:
        """Its cells, and between them the text: (lines above it, text)."""
        lines, at, found = self.text.splitlines(), self.ends, []
        for cell in (*self.cells, None):
            upto = cell.span[0] - 1 if cell else len(lines)
            while at < upto and not lines[at].strip():
                at += 1
            if text := "\n".join(lines[at:upto]).rstrip():
                found.append((at, text))
            if cell:
                found.append(cell)
                at = cell.span[1]
        return found


def read(path: Path, name: str) -> Page:
    """Read the page called `name` from `path`; raises `Problem`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise Problem(name, "is not UTF-8; save it as UTF-8", line) from None
    found = markdown.parse(text, path)
    front = _Front(name, text, found)
    if found.lost:
        line, why = found.lost[0]
        raise Problem(name, why, line)
    lines = text.splitlines()
    if not any(line.strip() for line in lines[found.ends :]):
        raise Problem(name, "is empty", 1)
    fences = [fence for fence in found.fences if fence.name == markdown.CELL]
    cells = tuple(_cell(name, n, f, lines) for n, f in enumerate(fences, 1))
    page = Page(
        name,
        path,
        text,
        **front.settings(bool(cells)),
        answers=front.answers(found.anchors),
        cells=cells,
        listings=tuple(_listings(name, path, found.fences)),
        fences=tuple(found.fences),
        headings=tuple(found.headings),
        prose=tuple(found.prose),
        front=front.found,
        ends=found.ends,
    )
    if page.kind and cells and not any(cell.check for cell in cells):
        raise Problem(name, "has no check; `:check:` makes a cell one", cells[-1].line)
    return page


class _Front:
    """The front matter of a page, and what it may say."""

    def __init__(self, name: str, text: str, found: markdown.Document):
        self.name, self.found = name, {}
        if found.front is None:
            if text.startswith("---"):
                raise self._problem("its front matter has no end: a line of `---`", 1)
            return
        self._text = found.front
        try:
            self.found = yaml.safe_load(found.front) or {}
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            what = getattr(error, "problem", None) or error
            line = mark.line + 2 if mark else 1
            raise self._problem(f"its front matter is not YAML: {what}", line) from None
        if not isinstance(self.found, dict):
            raise self._problem("its front matter is no list of `key: value` lines", 1)

    def _problem(self, reason: str, line: int) -> Problem:
        return Problem(self.name, reason, line)

    def _line(self, *way: str | int) -> int:
        """The line of the value at `way`, or of the last part of it that is there."""
        node, line = yaml.compose(self._text) if self.found else None, 1
        for key in way:
            if isinstance(node, yaml.MappingNode):
                pair = next((p for p in node.value if p[0].value == key), None)
                if pair is None:
                    break
                line, node = pair[0].start_mark.line + 2, pair[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
                node = node.value[key]
                line = node.start_mark.line + 2
        return line

    def settings(self, runs: bool) -> dict:
        """The kernel, the budget and the kind of a page, which `runs` or does not."""
        book = self.found.get("book", {})
        if not isinstance(book, dict) or not set(book) <= {"budget", "kind"}:
            why = "its `book:` takes `budget` and `kind`, and no more"
            raise self._problem(why, self._line("book"))
        kind = book.get("kind")
        if "kind" in book and kind not in KINDS:
            why = f"is of kind {kind!r}; there are {' and '.join(KINDS)}"
            raise self._problem(why, self._line("book", "kind"))
        if not runs:
            return {"kind": kind}
        if not self.found:
            why = "has code cells but no front matter, so none would run"
            raise self._problem(why, 1)
        if self.found.get("file_format") != "mystnb":
            why = "needs `file_format: mystnb`, or no cell would run"
            raise self._problem(why, self._line("file_format"))
        spec = self.found.get("kernelspec")
        kernel = spec.get("name") if isinstance(spec, dict) else None
        if kernel not in KERNELS:
            why = f"its kernelspec is called {kernel!r}; it runs on "
            why += " or ".join(KERNELS)
            raise self._problem(why, self._line("kernelspec", "name"))
        budget = book.get("budget")
        number = isinstance(budget, int | float) and not isinstance(budget, bool)
        if not number or not 0 < budget < math.inf:
            why = "needs `book: {budget: SECONDS}`, a positive number"
            raise self._problem(why, self._line("book", "budget"))
        return {"kernel": kernel, "budget": float(budget), "kind": kind}

    def answers(self, anchors: set[str]) -> tuple[Answer, ...]:
        """The questions that the page answers, at some of its `anchors`."""
        given = self.found.get("answers", [])
        if not isinstance(given, list):
            why = "its `answers` are a list of `question` and `at`"
            raise self._problem(why, self._line("answers"))
        found = []
        for k, one in enumerate(given):
            fits = isinstance(one, dict) and set(one) == {"question", "at"}
            if not fits or not all(isinstance(v, str) and v for v in one.values()):
                why = "each of its `answers` has a `question` and `at`, both texts"
                raise self._problem(why, self._line("answers", k))
            if one["at"] not in anchors:
                why = f"answers at {one['at']!r}, which is no heading's address here"
                raise self._problem(why, self._line("answers", k, "at"))
            found.append(Answer(**one))
        return tuple(found)


def _cell(name: str, number: int, fence: Fence, lines: list[str]) -> Cell:
    def refuse(why: str, option: str = "") -> Problem:
        block = range(fence.line, fence.first - 1)
        starts = (f":{option}:", f"{option}:")
        at = [n + 1 for n in block if option and lines[n].strip().startswith(starts)]
        return Problem(name, why, at[0] if at else fence.line, number)

    if fence.bad:
        why = "its options are not YAML; quote a value with a colon in it"
        raise refuse(why)
    options = dict(fence.options)
    tags, raises = options.pop("tags", []), options.pop("raises", None)
    mystnb = options.pop("mystnb", {})
    flags = {flag: options.pop(flag, False) for flag in FLAGS}
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise refuse("its `tags` are a list, as in `:tags: [hide-input]`", "tags")
    for unknown in [*sorted(options), *sorted(set(tags) - DISPLAY_TAGS)]:
        why = f"does not know {unknown}; a cell takes {', '.join(FLAGS)}, raises, "
        why += f"mystnb, and the tags {', '.join(sorted(DISPLAY_TAGS))}"
        raise refuse(why, unknown if unknown in options else "tags")
    if "raises" in fence.options and not (
        isinstance(raises, str) and re.match(r"[A-Za-z_][\w.]*\s*(:|$)", raises)
    ):
        why = 'its `raises` is a text like "ValueError: a piece of the message"'
        raise refuse(why, "raises")
    if not isinstance(mystnb, dict):
        raise refuse('its `mystnb` is like {code_prompt_show: "All"}', "mystnb")
    for flag, value in flags.items():
        if value not in (None, True, False):
            raise refuse(f"its `{flag}` takes no value", flag)
    return Cell(
        number,
        fence.first,
        "\n".join(fence.body),
        frozenset(tags),
        raises,
        **{flag: value is not False for flag, value in flags.items()},
        mystnb=mystnb,
        span=(fence.line, fence.last),
    )


def _listings(name: str, path: Path, fences: list[Fence]):
    number = 0
    for fence in fences:
        if fence.name == "literalinclude":
            number += 1
            if _BY_LINES & set(fence.options):
                why = "a listing is named, never cut by lines"
                raise Problem(name, why, fence.line)
            shown = (path.parent / fence.argument).resolve()
            yield Listing(number, fence.line, shown, fence.options.get("pyobject"))
