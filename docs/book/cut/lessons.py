"""What a program keeps of the statements above it: those whose names it needs."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from book.cut.kinds import PYTHON, is_device_line, is_main
from book.cut.rule import Rule, unseen
from book.cut.statements import PAGE, Name, SliceError, Statement, is_future
from book.cut.whole import Kept, Whole
from book.pages import Cell

if TYPE_CHECKING:
    from book.cut.program import Slicer


class Lessons:
    """The statements of a page, or of a module, followed once."""

    def __init__(self, slicer: Slicer, body: list[Statement], devices: bool):
        self._slicer, self.local = slicer, slicer.local
        self.devices = devices or any(map(is_device_line, body))
        self.all: list[Statement] = []  # modules first, in the order of importing
        self.links: dict[Name, Name] = {}  # an imported name: what it is in its module
        self._troubles: dict[Name, SliceError] = {}
        self._gather(body, set())
        rule = Rule(self.links, self.all)
        self.first, self._hidden, self._effects = rule.first, rule.hidden, rule.effects
        self._closure = rule.closure

    def _gather(self, body: list[Statement], seen: set[Path]) -> None:
        for statement in body:
            if not statement.is_import or statement.hidden:
                continue
            try:
                path = self.local(statement.node)
            except SliceError as error:
                names = statement.named(statement.uses.binds)
                self._troubles |= dict.fromkeys(names, error)
                continue
            if path:
                module = self._slicer.module(path)
                if path not in seen:
                    seen.add(path)
                    self._gather(module, seen)
                for alias in statement.node.names:
                    name = (statement.unit, alias.asname or alias.name)
                    self.links[name] = (self._slicer.label(path), alias.name)
        self.all += body

    # -- what is kept ----------------------------------------------------------
    def program(self, cell: Cell) -> str:
        """The program of a cell: it prints what the cell shows."""
        own = [s for s in self.all if s.place == (PAGE, cell.number)]
        bound = {name for s in own for name in s.named(s.uses.binds)}
        wanted = bound if all(s.is_import for s in own) else ()
        return self.text(cell.source, own, wanted, cell.raises)

    def text(self, source: str, own: list[Statement], wanted=(), raises=None) -> str:
        """The program of the statements `own`, with the names `wanted`."""
        kept = self.keep(own, set(wanted))
        return Whole(self, kept, own).text(source, raises)

    def keep(self, own: list[Statement], wanted: set[Name]) -> Kept:
        """The statements that the program has, and the names wanted of each."""
        end = self.all.index(own[-1]) + 1 if own else len(self.all)
        mine, kept, due = set(own), {}, set()
        must, may = set(wanted), self._closure(wanted)
        for statement in own:
            may |= self._effects[statement].deep
        for statement in reversed(self.all[:end]):
            effect = self._effects[statement]
            if statement not in mine and not self._needed(statement, may):
                continue
            if effect.stolen:
                raise SliceError(effect.stolen)
            kept[statement] = effect.binds & may
            must -= effect.binds | effect.maybe
            if not isinstance(statement.node, ast.Import):
                may -= effect.binds  # `import a.b` leaves `a` what it was
            if statement.is_import:
                self._take(kept[statement], must, may)
                continue
            due |= effect.needs if statement.uses.calls else set()
            must |= effect.reads
            may |= effect.needs
        for name in sorted(must | (due - self.first)):
            if name[1] not in PYTHON:
                raise SliceError(self._missing(name, wanted))
        units = {statement.unit for statement in kept}
        future = [s for s in self.all if s.unit in units and is_future(s.node)]
        return kept | {s: s.named(s.uses.binds) for s in future}

    def _needed(self, statement: Statement, may: set[Name]) -> bool:
        effect = self._effects[statement]
        hit = not (may.isdisjoint(effect.binds) and may.isdisjoint(effect.maybe))
        if not hit and (not effect.outside or is_device_line(statement)):
            return False
        return not (statement.hidden or statement.fails or is_main(statement))

    def _take(self, names: set[Name], must: set, may: set) -> None:
        """Need what imported names are in the modules that they come from."""
        for name in names:
            if name in self._troubles:
                raise self._troubles[name]
            if name in self.links:
                must.add(self.links[name])
                may.add(self.links[name])

    def _missing(self, name: Name, wanted: set[Name]) -> str:
        if name in self._hidden:
            return unseen(name[1], self._hidden[name])
        if name[0] == PAGE:
            return f"uses `{name[1]}`, which {PAGE} never defines"
        asked = name in wanted or name in self.links.values()
        return f"{name[0]} {'has no' if asked else 'never defines'} `{name[1]}`"
