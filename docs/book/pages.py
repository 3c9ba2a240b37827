"""A page is read once, and what would silently not run is an error with a line.

MyST-NB publishes a page without its outputs when the front matter is broken, and drops
a code cell that sits inside another directive.  Both stop the build here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import yaml
from myst_nb.core.read import MystMetadataParsingError, read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig

KERNELS = ("target", "mesh-of-eight")
DISPLAY_TAGS = frozenset(
    f"{verb}-{what}"
    for verb in ("hide", "remove")
    for what in ("input", "output", "cell")
)
_FENCE = re.compile(
    r"^(?P<lead>[>\s]*)(?P<fence>`{3,}|~{3,}|:{3,})\s*(?P<info>.*?)\s*$"
)
_OPTION = re.compile(r"^\s*:(?P<key>[\w-]+):\s*(?P<value>.*?)\s*$")


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
    """One code cell: its code, where it stands, and how it is shown."""

    number: int
    line: int
    source: str
    tags: frozenset[str] = frozenset()
    raises: str | None = None
    alone: bool = False  # it measures, so nothing else may run meanwhile

    @property
    def visible(self) -> bool:
        """Whether a reader can see the code, perhaps after unfolding it."""
        return not self.tags & {"remove-input", "remove-cell"}


@dataclass(frozen=True)
class Listing:
    """One `literalinclude`: the file, and the object of it that is shown."""

    number: int
    line: int
    path: Path
    pyobject: str | None = None


@dataclass(frozen=True)
class Page:
    """A page as its author wrote it; `kernel` is None where nothing runs."""

    name: str
    path: Path
    text: str = field(repr=False)
    kernel: str | None = None
    budget: float = 0.0
    cells: tuple[Cell, ...] = ()
    listings: tuple[Listing, ...] = ()


def read(path: Path, name: str) -> Page:
    """Read the page called `name` from `path`; raises `Problem`."""
    text = path.read_text(encoding="utf-8")
    found, listings = _fences(text, path, name)
    if not found:
        return Page(name, path, text, listings=tuple(listings))
    settings = _front_matter(text, name)
    try:
        cells = tuple(_cells(notebook(text), text.splitlines(), name))
    except MystMetadataParsingError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise Problem(
            name,
            "the options of a code cell are not YAML; quote a value with a colon in it",
            int(line[1]) if line else None,
        ) from None
    except Problem:
        raise
    except Exception as error:  # MyST-NB's own, such as a `:load:` of a file
        raise Problem(name, f"a code cell cannot be read: {error}") from None
    if len(cells) != found:
        raise Problem(name, f"{found} code cells are written, {len(cells)} would run")
    return Page(name, path, text, **settings, cells=cells, listings=tuple(listings))


def notebook(text: str) -> SimpleNamespace:
    """The page's text as MyST-NB reads it: a notebook with a source map."""
    config = MdParserConfig(enable_extensions={"colon_fence"})
    return read_myst_markdown_notebook(text, config=config, add_source_map=True)


def _front_matter(text: str, name: str) -> dict:
    match = re.match(r"---\n(.*?)\n---\s*\n", text, re.DOTALL)
    if not match:
        raise Problem(name, "has code cells but no front matter, so none would run", 1)
    try:
        front = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        line = getattr(error, "problem_mark", None)
        raise Problem(
            name,
            f"its front matter is not YAML: {getattr(error, 'problem', error)}",
            line.line + 2 if line else 1,
        ) from None
    if not isinstance(front, dict) or front.get("file_format") != "mystnb":
        raise Problem(name, "needs `file_format: mystnb`, or no cell would run", 1)
    spec = front.get("kernelspec")
    kernel = spec.get("name") if isinstance(spec, dict) else None
    if kernel not in KERNELS:
        raise Problem(
            name,
            f"its kernelspec is called {kernel!r}; it runs on {' or '.join(KERNELS)}",
            1,
        )
    book = front.get("book")
    budget = book.get("budget") if isinstance(book, dict) and len(book) == 1 else None
    if isinstance(budget, bool) or not isinstance(budget, int | float) or budget <= 0:
        raise Problem(name, "needs `book: {budget: SECONDS}`, a positive number", 1)
    return {"kernel": kernel, "budget": float(budget)}


def _fences(text: str, path: Path, name: str) -> tuple[int, list[Listing]]:
    """Count the top-level code cells and collect the listings, at any depth."""
    lines = text.splitlines()
    open_fences: list[tuple[str, str]] = []
    cells, listings = 0, []
    for number, line in enumerate(lines, start=1):
        match = _FENCE.match(line)
        if not match:
            continue
        fence, info = match["fence"], match["info"]
        if open_fences:
            opened, what = open_fences[-1]
            if not info and fence[0] == opened[0] and len(fence) >= len(opened):
                open_fences.pop()
                continue
            if not what.startswith("{") or what.startswith(("{code", "{literal")):
                continue
        if info.startswith("{code-cell}"):
            if open_fences or match["lead"]:
                inside = open_fences[-1][1].split()[0] if open_fences else "a list"
                raise Problem(
                    name,
                    f"a code cell inside {inside} would not run; "
                    "show a tested listing there with literalinclude",
                    number,
                )
            cells += 1
        elif info.startswith("{literalinclude}"):
            target = info.removeprefix("{literalinclude}").strip()
            options = dict(_options(lines[number:]))
            if {"lines", "lineno-match", "start-at", "end-at"} & set(options):
                raise Problem(name, "a listing is named, never cut by lines", number)
            listings.append(
                Listing(
                    len(listings) + 1,
                    number,
                    (path.parent / target).resolve(),
                    options.get("pyobject"),
                )
            )
        open_fences.append((fence, info))
    return cells, listings


def _options(lines: list[str]):
    for line in lines:
        match = _OPTION.match(line)
        if not match:
            return
        yield match["key"], match["value"]


def _cells(book: SimpleNamespace, lines: list[str], name: str):
    number = 0
    for cell, fence in zip(book.cells, book.metadata["source_map"], strict=True):
        if cell.cell_type != "code":
            continue
        number += 1
        first = cell.source.split("\n")[0]
        # Options stand between the fence and the code.
        code = (i for i, at in enumerate(lines[fence:], fence + 1) if at == first)
        line = next(code, fence)
        options = dict(cell.metadata)
        tags = frozenset(options.pop("tags", ()))
        raises = options.pop("raises", None)
        alone = options.pop("alone", False) is not False
        options.pop("mystnb", None)
        unknown = sorted(tags - DISPLAY_TAGS) + sorted(options)
        if unknown:
            raise Problem(
                name,
                f"does not know {', '.join(unknown)}; a cell takes `raises`, `alone`, "
                f"`mystnb` and the tags {', '.join(sorted(DISPLAY_TAGS))}",
                line,
                number,
            )
        yield Cell(number, line, cell.source, tags, raises, alone)
