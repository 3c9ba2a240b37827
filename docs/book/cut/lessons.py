"""What a program keeps of the statements above it: those whose names it needs.

A cell changes only what it made.  So what a name stands for is settled when its cell is
over, and a program needs definitions and uses.  Of the cell that made a name, it has
also what visibly changes it, or what else there stands for the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from book.cut.kinds import PYTHON, is_device_line, is_main
from book.cut.statements import PAGE, Name, SliceError, Statement, is_future
from book.cut.uses import DEFS, shows
from book.cut.whole import Kept, Whole
from book.pages import Cell

if TYPE_CHECKING:
    from book.cut.program import Slicer


@dataclass(frozen=True)
class Effect:
    """What comes of a statement where it stands."""

    reads: set[Name]
    binds: set[Name]
    maybe: set[Name]  # bound on some paths, or changed in place
    needs: set[Name]  # what it may read, and what is read because it calls
    deep: set[Name]  # the same, whether it calls or not
    outside: bool  # it sets a state that no name holds
    stolen: str  # what to say, if it uses what a removed cell made


class Lessons:
    """The statements of a page, or of a module, followed once."""

    def __init__(self, slicer: Slicer, body: list[Statement], devices: bool):
        self._slicer, self.local = slicer, slicer.local
        self.devices = devices or any(map(is_device_line, body))
        self.all: list[Statement] = []  # modules first, in the order of importing
        self.links: dict[Name, Name] = {}  # an imported name: what it is in its module
        self._troubles: dict[Name, SliceError] = {}
        self._gather(body, set())
        self._made: dict[Name, Statement] = {}
        self._leads: dict[Name, set[Name]] = {}  # what is read when it is called
        self._same: dict[Name, set[Name]] = {}  # names of one cell for one object
        self._changing: set[Name] = set()  # changed by the body of some function
        self._hidden: dict[Name, Cell] = {}
        self._effects: dict[Statement, Effect] = {}
        self.first: set[Name] = set()  # all that is ever bound
        for _, group in groupby(self.all, key=lambda s: s.place):
            cell, self._same = list(group), {}
            kept = dict(self._made), dict(self._leads)
            for statement in cell:
                self._follow(statement)
            if cell[0].cell and cell[0].cell.check:  # its names end with it
                self._made, self._leads = kept

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

    # -- following -------------------------------------------------------------
    def _follow(self, statement: Statement) -> None:
        used, named = statement.uses, statement.named
        reads, later = named(used.reads), named(used.later)
        self._obey(statement)
        self._changing |= named(used.changes_later)
        deep, needs = self.closure(reads | later), reads
        if used.calls:  # of a definition, its decorators are called
            needs = self.closure(reads) if isinstance(statement.node, DEFS) else deep
        stolen = next((n for n in sorted(needs) if self._is_removed(n)), None)
        changed = self._changed(statement, needs)
        self._effects[statement] = Effect(
            reads,
            named(used.binds),
            named(used.maybe) | changed,
            needs | named(used.maybe & used.later),
            deep,
            any(self._is_foreign((statement.unit, name)) for name in used.sets),
            _unseen(stolen[1], self._made[stolen].cell) if stolen else "",
        )
        if not statement.fails:
            self._bind(statement, changed)

    def closure(self, names: Iterable[Name]) -> set[Name]:
        """`names`, and what the functions that they lead to read when called."""
        seen: set[Name] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self._leads.get(name, ())
        return seen

    def _bind(self, statement: Statement, changed: set[Name]) -> None:
        used, named = statement.uses, statement.named
        if is_main(statement) and statement.unit != PAGE:
            return
        reads = named(used.reads | used.later)
        leads = named(used.later).union(*(self._leads.get(n, ()) for n in reads))
        bound = named(used.bound)
        for name in bound:
            if self._made.get(name) and statement.hidden and statement.is_import:
                continue  # the same once more
            self._made[name] = statement
            self._leads[name] = {self.links[name]} if name in self.links else leads
            if name[1] in used.binds:
                self._same.pop(name, set()).discard(name)
        if statement.hidden:
            self._hidden |= dict.fromkeys(bound, statement.cell)
        else:
            self.first |= bound
        for name in changed:
            self._leads[name] = self._leads.get(name, set()) | leads | bound
        if not isinstance(statement.node, (*DEFS, ast.Import, ast.ImportFrom)):
            same = {n for n in reads | bound | changed if self._is_own(n, statement)}
            same = same.union(*(self._same.get(name, ()) for name in same))
            self._same |= dict.fromkeys(same, same)

    # -- changes ---------------------------------------------------------------
    def _changed(self, statement: Statement, needs: set[Name]) -> set[Name]:
        """The names of its cell that a statement may change in place."""
        used, named = statement.uses, statement.named
        shown = statement.last and statement.cell and shows(statement.node)
        names = named(used.changes | (set() if shown else used.given))
        if used.calls:
            names |= needs & self._changing
        own = {n for n in names if self._is_own(n, statement)}
        if not names.isdisjoint(named(used.bound)):  # the name of a loop, perhaps
            reads = named(used.reads | used.later)
            own |= {n for n in reads if self._is_own(n, statement)}
        own |= {n for n in named(used.breaks) if self._is_near(n, statement)}
        return own.union(*(self._same.get(name, ()) for name in own))

    def _is_near(self, name: Name, statement: Statement) -> bool:
        """Whether the same cell made it; all modules together count as one."""
        maker = self._made.get(name)
        return bool(maker) and maker.place[1] == statement.place[1]

    def _is_own(self, name: Name, statement: Statement) -> bool:
        """Whether it is near, and neither imported nor a definition."""
        if not self._is_near(name, statement):
            return False
        return not isinstance(self._made[name].node, (*DEFS, ast.Import, ast.ImportFrom))

    def _is_foreign(self, name: Name) -> bool:
        """Whether it is imported from elsewhere."""
        maker = self._made.get(name)
        return bool(maker) and maker.is_import and name not in self.links

    def _is_removed(self, name: Name) -> bool:
        maker = self._made.get(name)
        return bool(maker) and maker.hidden

    def _obey(self, statement: Statement) -> None:
        """Refuse to change in place what another cell or module made."""
        for name in sorted(statement.named(statement.uses.breaks)):
            shown = name[1]
            while name in self.links and name in self._made:
                name = self.links[name]
            maker = self._made.get(name)
            if maker and maker.place != statement.place and not maker.is_import:
                unit, cell = maker.place
                who = f"cell {cell}" if cell else unit
                raise SliceError(
                    f"changes `{shown}` in place, which {who} made: "
                    f"make a new one, or do it in {who}",
                    statement.cell,
                )

    # -- what is kept ----------------------------------------------------------
    def program(self, cell: Cell) -> str:
        """The program of a cell: it prints what the cell shows."""
        if cell.fresh:
            return cell.source.strip("\n") + "\n"
        own = [s for s in self.all if s.place == (PAGE, cell.number)]
        wanted: set[Name] = set()
        if all(statement.is_import for statement in own):
            wanted = {name for s in own for name in s.named(s.uses.binds)}
        return self.text(cell.source, own, wanted, cell.raises)

    def text(
        self,
        source: str,
        own: list[Statement],
        wanted: Iterable[Name] = (),
        raises: str | None = None,
    ) -> str:
        """The program of the statements `own`, with the names `wanted`."""
        kept = self._keep(own, set(wanted))
        return Whole(self, kept, own).text(source, raises)

    def _keep(self, own: list[Statement], wanted: set[Name]) -> Kept:
        """The statements that the program has, and the names wanted of each."""
        end = self.all.index(own[-1]) + 1 if own else len(self.all)
        mine, kept, due = set(own), {}, set()
        must, may = set(wanted), self.closure(wanted)
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
        for statement in self.all:
            if statement.unit in units and is_future(statement.node):
                kept[statement] = statement.named(statement.uses.binds)
        return kept

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
            return _unseen(name[1], self._hidden[name])
        if name[0] == PAGE:
            return f"uses `{name[1]}`, which {PAGE} never defines"
        asked = name in wanted or name in self.links.values()
        return f"{name[0]} {'has no' if asked else 'never defines'} `{name[1]}`"


def _unseen(name: str, cell: Cell) -> str:
    what = "check" if cell.check else "removed cell"
    return (
        f"uses `{name}`, which a {what} (cell {cell.number}) defines, and no program "
        "has those; define it in a lesson"
    )
