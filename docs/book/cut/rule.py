"""What each statement needs, by one rule: a cell changes only what it made.

So what a name stands for is settled when its cell is over: the statement that bound it
made it, and those of the same cell that visibly change it, or what else there stands
for the same.  A statement needs what made the names that it reads, and those that the
functions among them read.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from itertools import groupby

from book.cut.statements import PAGE, Name, SliceError, Statement
from book.cut.words import defines, settled
from book.pages import Cell

PYTHON = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


class Rule:
    """Follows `statements` once, in order; `links`: what an imported name is."""

    def __init__(self, links: dict[Name, Name], statements: list[Statement]):
        self.links = links
        self.bound: dict[Name, Statement] = {}  # by whom: a lesson, if any
        self._makers: dict[Name, tuple[Statement, ...]] = {}  # of what it stands for
        self._leads: dict[Name, set[Name]] = {}  # what is read when it is called
        self._alike: dict[Name, set[Name]] = {}  # names of one cell for one object
        self._changing: set[Name] = set()  # by some statement or function
        self._settings: dict[Statement, Name] = {}
        self._reads: dict[Statement, set[Name]] = {}
        self._needs: dict[Statement, dict[Statement, Name]] = {}  # and for which name
        for cell, own in groupby(statements, key=lambda one: one.cell):
            check = cell is not None and cell.check
            kept = (dict(self._makers), dict(self._leads)) if check else ()
            for one in own:
                self._follow(one)
            if check:  # its names end with it
                self._makers, self._leads = kept

    def keep(self, own: Iterable[Statement], wanted: Iterable[Name] = ()):
        """The statements `own`, and all that they and the names `wanted` need."""
        names, kept = self._closure(wanted), set()
        self._find(names)
        todo = [*own, *self._made(names)]
        while todo:
            one = todo.pop()
            if one not in kept:
                kept.add(one)
                self._find(self._reads[one])
                for maker, name in self._needs[one].items():
                    if maker.hidden:
                        raise SliceError(_unseen(name[1], maker.cell))
                    todo.append(maker)
        return kept

    def _find(self, names: set[Name]) -> None:
        """Raise unless a lesson, a module or Python has all `names`."""
        for name in sorted(names):
            maker, (unit, said) = self.bound.get(name), name
            if maker and maker.hidden:
                raise SliceError(_unseen(said, maker.cell))
            if maker or said in PYTHON:
                continue
            if unit == PAGE:
                raise SliceError(f"uses `{said}`, which {PAGE} never defines")
            raise SliceError(f"{unit} has no `{said}`")

    def _closure(self, names: Iterable[Name]) -> set[Name]:
        """`names`, and what the functions that they lead to read when called."""
        seen: set[Name] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self._leads.get(name, ())
        return seen

    def _made(self, names: Iterable[Name]) -> dict[Statement, Name]:
        """The statements that made what `names` stand for now."""
        return {one: name for name in names for one in self._makers.get(name, ())}

    # -- one statement after the other -----------------------------------------
    def _follow(self, one: Statement) -> None:
        used, named = one.uses, one.named
        self._obey(one)
        self._changing |= named(used.changes)
        names = named(used.reads | used.later)
        if one.imported:
            names = {self.links[n] for n in named(used.bound) if n in self.links}
        reads = self._reads[one] = self._closure(names)
        self._needs[one] = self._settings | self._made(reads)
        if one.fails or one.is_main:
            return
        self._bind(one, names, set() if one.imported else self._changed(one, names))
        sets = any(map(self._is_foreign, named(used.sets)))
        if sets and not (one.hidden or one.asks_for_devices):
            self._settings[one] = (one.unit, "")

    def _bind(self, one: Statement, names: set[Name], changed: set[Name]) -> None:
        """Note what `one`, which reads `names`, binds, and what it has `changed`."""
        named, used = one.named, one.uses
        leads = named(used.later).union(*(self._leads.get(n, ()) for n in names))
        leads = names if one.imported else leads
        for name in named(used.bound):
            if one.hidden and name in self.bound:
                if one.imported:
                    continue  # the same once more
            else:
                self.bound[name] = one
            if name[1] in used.binds:
                self._makers[name], self._leads[name] = (), set()
                self._alike.pop(name, set()).discard(name)
        for name in named(used.bound) | changed:
            self._makers[name] = (*self._makers.get(name, ()), one)
            self._leads[name] = self._leads.get(name, set()) | leads
        if not (one.imported or defines(one.node)):
            alike = {
                n for n in names | named(used.bound) | changed if self._is_value(n, one)
            }
            alike = alike.union(*(self._alike.get(name, ()) for name in alike))
            self._alike |= dict.fromkeys(alike, alike)

    # -- changes ---------------------------------------------------------------
    def _changed(self, one: Statement, names: set[Name]) -> set[Name]:
        """The names of its cell that `one`, reading `names`, may change in place."""
        used, named = one.uses, one.named
        reads = self._reads[one]
        if defines(one.node):  # what it defines does not run
            reads = self._closure(named(used.reads))
        found = named(used.changes) | (reads - names) & self._changing
        if not found.isdisjoint(named(used.bound)):  # the name of a loop, perhaps
            found |= names
        own = {n for n in found if self._is_value(n, one)}
        own |= {n for n in named(used.breaks) if self._is_near(n, one)}
        return own.union(*(self._alike.get(name, ()) for name in own))

    def _is_near(self, name: Name, one: Statement) -> bool:
        """Whether the same cell made it."""
        makers = self._makers.get(name)
        return bool(makers) and makers[-1].place == one.place

    def _is_value(self, name: Name, one: Statement) -> bool:
        """Whether it is near, and nothing imported, defined or settled otherwise."""
        if not self._is_near(name, one):
            return False
        maker = self._makers[name][0]
        return not (maker.imported or settled(maker.node))

    def _is_foreign(self, name: Name) -> bool:
        """Whether it is imported from elsewhere."""
        makers = self._makers.get(name)
        return bool(makers) and bool(makers[0].imported) and name not in self.links

    def _obey(self, one: Statement) -> None:
        """Refuse to change in place what another cell or module made."""
        for name in sorted(one.named(one.uses.breaks)):
            shown = name[1]
            while name in self.links and name in self._makers:
                name = self.links[name]
            makers = self._makers.get(name, (one,))
            maker = makers[-1]
            if maker.place != one.place and not makers[0].imported:
                unit, cell = maker.place
                who = f"cell {cell}" if cell else unit
                raise SliceError(
                    f"changes `{shown}` in place, which {who} made: "
                    f"make a new one, or do it in {who}",
                    one.cell,
                )


def _unseen(name: str, cell: Cell) -> str:
    """What to say where a lesson uses a name that only `cell` defines."""
    what = "check" if cell.check else "removed cell"
    return (
        f"uses `{name}`, which a {what} (cell {cell.number}) defines, and no program "
        "has those; define it in a lesson"
    )
