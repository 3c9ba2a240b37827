"""The statements of a page, or of a module, and the programs made of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from book.snippets.imports import Imported
from book.snippets.needs import Needs
from book.snippets.program import Program
from book.snippets.statements import PAGE, Name, SliceError, Statement
from book.snippets.vocabulary import called
from book.source.model import Cell

if TYPE_CHECKING:
    from book.snippets.slicer import Slicer

_IMPORTS = (ast.Import, ast.ImportFrom)
_RETURNS = (ast.Return, ast.Yield, ast.YieldFrom)


class Lessons:
    """The statements of a page, or of a module, and what each of them needs."""

    def __init__(self, slicer: Slicer, body: list[Statement]):
        self._slicer = slicer
        self.all: list[Statement] = []  # modules first, in the order of importing
        self.links: dict[Name, Name] = {}  # an imported name: what it is in its module
        self._gather(body, set())
        self.needs = Needs(self.links, self.all)

    def _gather(self, body: list[Statement], seen: set[Path]) -> None:
        for one in body:
            if one.hidden:
                continue
            if one.imported:
                self._import(one, one.imported, seen)
            else:
                self._refuse_imports_inside(one)
        self.all += body

    def _import(self, one: Statement, imported: Imported, seen: set[Path]) -> None:
        """Gather the module that a statement imports from, if it is one of ours."""
        assert isinstance(one.node, ast.Import | ast.ImportFrom)
        path = self._slicer.local(one.node, one.cell)
        if path is None:
            return
        if imported.alias:
            said = f"`{ast.unparse(one.node)}` renames what is yours"
            raise SliceError(f"{said}; keep its name", one.cell)
        if path not in seen:
            seen.add(path)
            self._gather(self._slicer.module(path), seen)
        there = self._slicer.label(path), imported.name or ""
        self.links[one.unit, imported.bound] = self.links.get(there, there)

    def _refuse_imports_inside(self, one: Statement) -> None:
        if "import" not in one.code:
            return
        for node in ast.walk(one.node):
            if isinstance(node, _IMPORTS) and self._slicer.local(node, one.cell):
                said = f"move `{ast.unparse(node)}` to the top level"
                raise SliceError(said, one.cell)

    def of(self, cell: Cell) -> list[Statement]:
        """The statements of a cell of the page."""
        return [one for one in self.all if one.place == (PAGE, cell.number)]

    def program(self, cell: Cell) -> str:
        """The program of a cell: it prints what the cell shows."""
        return self.text(cell.source, self.of(cell), raises=cell.raises)

    def computed(self, cell: Cell) -> str:
        """The line that a copy of a cell prints its last value with; "" for none."""
        return Program(self, set(), self.of(cell)).computed(cell.source, cell.raises)

    def text(
        self,
        source: str,
        own: list[Statement],
        wanted: Iterable[Name] = (),
        raises: str | None = None,
    ) -> str:
        """The program of the statements `own`, with the names `wanted`."""
        needing = [s for s in own if s.fails or not s.imported] or own
        return Program(self, self.needs.keep(needing, wanted), own).text(source, raises)

    def is_quiet(self, one: Statement) -> bool:
        """Whether it calls a function of the book that returns nothing."""
        for name in self.needs.names(one, {called(getattr(one.node, "value", None))}):
            node = getattr(self.needs.bound.get(name), "node", None)
            if isinstance(node, ast.FunctionDef):
                return not any(isinstance(part, _RETURNS) for part in ast.walk(node))
        return False
