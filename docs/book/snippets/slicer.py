"""The program that one cell, or one listing, is: itself and exactly what it needs.

Statements are kept or left whole.  What a cell takes from `examples/` is written out,
so the program needs nothing but the packages that it imports.
"""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from book.snippets.lessons import Lessons
from book.snippets.statements import PAGE, SliceError, Statement, statements
from book.source import dependencies
from book.source.model import Cell, Listing, Page
from book.state import Problem

__all__ = ["SliceError", "Slicer", "problem_of", "programs"]


def programs(
    page: Page, slicer: Slicer, fail: Callable[[Problem], None]
) -> dict[str, str]:
    """The program of every lesson and listing of `page`: name -> text."""
    found: dict[str, str] = {}

    def add(
        name: str, line: int, number: int | None, program: Callable[[], str]
    ) -> None:
        try:
            found[name] = program()
        except SliceError as error:
            fail(problem_of(page, error, line, number))

    try:
        lessons = slicer.page(page.cells)
    except SliceError as error:
        fail(problem_of(page, error))
        return {}
    for cell in page.cells:
        if cell.visible and not cell.fresh:  # which is a program already
            program = partial(lessons.program, cell)
            add(f"cell{cell.number}", cell.line, cell.number, program)
    for one in filter(_there, page.listings):  # Sphinx reports the others
        program = partial(slicer.listing, one.path, one.pyobject)
        add(f"listing{one.number}", one.line, None, program)
    return found


def problem_of(
    page: Page, error: SliceError, line: int | None = None, number: int | None = None
) -> Problem:
    """What is wrong, at the cell that is to blame, or else where the program is."""
    if error.cell:
        line, number = error.cell.line, error.cell.number
    return Problem(page.name, str(error), line, number)


def _there(listing: Listing) -> bool:
    """Whether there is such a file, of Python, and such an object in it."""
    if listing.path.suffix != ".py" or not listing.path.is_file():
        return False
    name = re.escape((listing.pyobject or "").split(".")[0])
    text = listing.path.read_text(encoding="utf-8", errors="replace")
    return bool(re.search(rf"^(async def|def|class) {name}\b", text, re.M)) or not name


class Slicer:
    """Makes programs; `roots` are the folders whose modules are written out."""

    def __init__(self, roots: tuple[Path, ...]):
        self.roots = roots
        self._local: dict[str, Path | None] = {}
        self._modules: dict[Path, list[Statement]] = {}
        self._last: tuple = ()  # the page that was asked for last, and its lessons

    def page(self, cells: Sequence[Cell]) -> Lessons:
        """The lessons of a page with these cells.

        Raises `SliceError` where a cell breaks the rule or cannot be read.
        """
        if self._last[:1] != (cells,):
            body: list[Statement] = []
            for cell in cells:
                if not cell.fresh:
                    body += statements(cell.source, PAGE, cell)
            self._last = cells, Lessons(self, body)
            gc.freeze()  # their trees stay: no collection need look at them
        return self._last[1]

    def listing(self, path: Path, pyobject: str | None) -> str:
        """The program of an object of the module at `path`, or of all of it."""
        body = self.module(path)
        lessons = Lessons(self, body)
        if pyobject is None:
            source = dependencies.read_module(path, self.roots)
            return lessons.text(source, body) if lessons.links else source
        return lessons.text("", [], {(self.label(path), pyobject.split(".")[0])})

    def label(self, path: Path) -> str:
        """What messages call the module at `path`."""
        return dependencies.label(path, self.roots)

    def module(self, path: Path) -> list[Statement]:
        """The statements of a module."""
        unit = self.label(path)
        try:
            if path not in self._modules:
                source = dependencies.read_module(path, self.roots)
                self._modules[path] = statements(source, unit)
            return self._modules[path]
        except dependencies.NotPython as error:
            raise SliceError(str(error)) from None
        except SliceError as error:
            raise SliceError(f"{unit}: {error}") from None

    def local(
        self, node: ast.Import | ast.ImportFrom, cell: Cell | None
    ) -> Path | None:
        """The file under `roots` that an import in `cell` names; None if none."""
        text = ast.unparse(node)
        if text not in self._local:
            try:
                self._local[text] = dependencies.imported_module(node, self.roots)
            except dependencies.Unclear as error:
                raise SliceError(str(error), cell) from None
        return self._local[text]
