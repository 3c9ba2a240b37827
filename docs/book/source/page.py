"""A page is read once, and what would silently not run is an error with a line.

MyST-NB publishes a page without its outputs when the front matter is broken, and drops
a code cell that sits inside another directive.  Both stop the build here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from book.source import markdown
from book.source.front_matter import Front
from book.source.markdown import Fence, Heading
from book.source.model import Answer, Cell, Listing, Raised, listings, make_cell
from book.state import Problem

__all__ = ["NOT_UTF_8", "Answer", "Cell", "Fence", "Heading", "Listing"]
__all__ += ["Page", "Problem", "Raised", "read"]
NOT_UTF_8 = "is not UTF-8; save it as UTF-8"


@dataclass(frozen=True)
class Page:
    """A page as its author wrote it; `kernel` is None where nothing runs.

    `kind` may be None where nothing runs, as on a list of words.  `prose` are the
    numbered lines of text, headings and directives' options apart; `toctree` the pages
    it leads to; `needs` the lessons that it builds on, with the lines that say so.
    """

    name: str
    path: Path
    text: str = field(repr=False)
    kernel: str | None = None
    budget: float = 0.0
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
    front: dict = field(default_factory=dict, repr=False)
    ends: int = 0  # the last line of the front matter

    @property
    def title(self) -> str:
        """Its first heading, as Markdown; its name where it has none."""
        return next((h.text for h in self.headings if h.level == 1), self.name)

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
    text = _text(path, name)
    found = markdown.parse(text, path)
    front = Front(name, text, found)
    if found.lost:
        line, why = found.lost[0]
        raise Problem(name, why, line)
    lines = text.splitlines()
    if not any(line.strip() for line in lines[found.ends :]):
        raise Problem(name, "is empty", 1)
    fences = [fence for fence in found.fences if fence.name == markdown.CELL]
    cells = tuple(make_cell(name, n, f, lines) for n, f in enumerate(fences, 1))
    settings = front.settings(bool(cells))
    if cells and not any(one.check for one in cells):
        raise Problem(name, "has no check; `:check:` makes a cell one", cells[-1].line)
    return Page(
        name,
        path,
        text,
        **settings,
        answers=front.answers(found.anchors),
        cells=cells,
        listings=tuple(listings(name, path, found.fences)),
        fences=tuple(found.fences),
        headings=tuple(found.headings),
        prose=tuple(found.prose),
        front=front.found,
        ends=found.ends,
    )


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise Problem(name, NOT_UTF_8, line) from None
