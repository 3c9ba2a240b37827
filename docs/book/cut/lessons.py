"""The statements of a page, or of a module, and the programs they are cut into."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from book.cut.rule import Rule
from book.cut.statements import PAGE, Name, SliceError, Statement
from book.cut.whole import Whole
from book.cut.words import called, returns
from book.pages import Cell

if TYPE_CHECKING:
    from book.cut.program import Slicer

_IMPORTS = (ast.Import, ast.ImportFrom)


class Lessons:
    """The statements of a page, or of a module, followed once."""

    def __init__(self, slicer: Slicer, body: list[Statement], devices: bool):
        self._slicer = slicer
        self.devices = devices or any(s.asks_for_devices for s in body)
        self.all: list[Statement] = []  # modules first, in the order of importing
        self.links: dict[Name, Name] = {}  # an imported name: what it is in its module
        self._gather(body, set())
        self._rule = Rule(self.links, self.all)
        self.bound = self._rule.bound.keys()

    def _gather(self, body: list[Statement], seen: set[Path]) -> None:
        for one in body:
            if one.hidden:
                continue
            if not one.imported:
                self._refuse_imports_inside(one)
            elif path := self._slicer.local(one.node, one.cell):
                if path not in seen:
                    seen.add(path)
                    self._gather(self._slicer.module(path), seen)
                there = (self._slicer.label(path), one.imported.name)
                self.links[one.unit, one.imported.bound] = there
        self.all += body

    def _refuse_imports_inside(self, one: Statement) -> None:
        for node in ast.walk(one.node) if "import" in one.code else ():
            if isinstance(node, _IMPORTS) and self._slicer.local(node, one.cell):
                said = f"move `{ast.unparse(node)}` to the top level"
                raise SliceError(said, one.cell)

    def of(self, cell: Cell) -> list[Statement]:
        """The statements of a cell of the page."""
        page = (one for one in self.all if one.unit == PAGE)
        return [one for one in page if one.cell.number == cell.number]

    def keep(self, own: Iterable[Statement], wanted: Iterable[Name] = ()):
        """The statements `own`, and those that they and the names `wanted` need."""
        kept = self._rule.keep(own, wanted)
        units = {one.unit for one in kept}
        return kept | {s for s in self.all if s.is_future and s.unit in units}

    def program(self, cell: Cell) -> str:
        """The program of a cell: it prints what the cell shows."""
        return self.text(cell.source, self.of(cell), raises=cell.raises)

    def text(self, source: str, own: list[Statement], wanted=(), raises=None) -> str:
        """The program of the statements `own`, with the names `wanted`."""
        needing = [s for s in own if s.fails or not s.imported] or own
        return Whole(self, self.keep(needing, wanted), own).text(source, raises)

    def is_quiet(self, one: Statement) -> bool:
        """Whether it calls a function or method of the book that returns nothing."""
        name = called(one.node.value)
        _, name = self.links.get((one.unit, name), (one.unit, name))
        known = (n for s in self.all for n in (s.node, *getattr(s.node, "body", ())))
        found = [n for n in known if isinstance(n, ast.FunctionDef) and n.name == name]
        return bool(found) and not any(map(returns, found))
