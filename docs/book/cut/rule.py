"""A cell changes only what it made.

So what a name stands for is settled when its cell is over, and a program needs
definitions and uses.  Of the cell that made a name, it has also what visibly changes
it, or what else there stands for the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from book.cut.kinds import is_main
from book.cut.statements import PAGE, Name, SliceError, Statement
from book.cut.words import DEFS, shows
from book.pages import Cell


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


class Rule:
    """Follows `statements` once, in order; `links`: what an imported name is."""

    def __init__(self, links: dict[Name, Name], statements: list[Statement]):
        self.links = links
        self._made: dict[Name, Statement] = {}
        self._leads: dict[Name, set[Name]] = {}  # what is read when it is called
        self._same: dict[Name, set[Name]] = {}  # names of one cell for one object
        self._changing: set[Name] = set()  # changed by the body of some function
        self.hidden: dict[Name, Cell] = {}
        self.effects: dict[Statement, Effect] = {}
        self.first: set[Name] = set()  # all that is ever bound
        for _, group in groupby(statements, key=lambda one: one.place):
            cell, self._same = list(group), {}
            kept = dict(self._made), dict(self._leads)
            for statement in cell:
                self._follow(statement)
            if cell[0].cell and cell[0].cell.check:  # its names end with it
                self._made, self._leads = kept

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
        self.effects[statement] = Effect(
            reads,
            named(used.binds),
            named(used.maybe) | changed,
            needs | named(used.maybe & used.later),
            deep,
            any(self._is_foreign((statement.unit, name)) for name in used.sets),
            unseen(stolen[1], self._made[stolen].cell) if stolen else "",
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
            self.hidden |= dict.fromkeys(bound, statement.cell)
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
        return not isinstance(
            self._made[name].node, (*DEFS, ast.Import, ast.ImportFrom)
        )

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


def unseen(name: str, cell: Cell) -> str:
    """What to say where a lesson uses a name that only `cell` defines."""
    what = "check" if cell.check else "removed cell"
    return (
        f"uses `{name}`, which a {what} (cell {cell.number}) defines, and no program "
        "has those; define it in a lesson"
    )
