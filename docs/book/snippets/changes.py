"""What each statement needs, by one rule: a cell changes only what it made.

So what a name stands for is settled when its cell is over: the statement that bound it
made it, and those of the same cell that visibly change it, or what else there stands
for the same.  A statement needs what made the names that it reads, and those that the
functions among them read.
"""

from __future__ import annotations

from collections.abc import Iterable

from book.snippets.statements import PAGE, PYTHON, Name, SliceError, Statement
from book.snippets.vocabulary import defines, sets, settled
from book.source.page import Cell


class Rule:
    """Follows `statements` once, in order; `links`: what an imported name is."""

    def __init__(self, links: dict[Name, Name], statements: list[Statement]):
        self.links = links
        self.bound: dict[Name, Statement] = {}  # by whom
        self._makers: dict[Name, tuple[Statement, ...]] = {}  # of what it stands for
        self._leads: dict[Name, set[Name]] = {}  # what is read when it is called
        self._alike: dict[Name, set[Name]] = {}  # names of one cell for one object
        self._changing: set[Name] = set()  # by some statement or function
        self._theirs: dict[Cell, set[str]] = {}  # what hidden cells bind
        self._settings: set[Statement] = set()
        self._reads: dict[Statement, set[Name]] = {}
        self._needs: dict[Statement, set[Statement]] = {}
        for one in statements:
            self._follow(one)

    def names(self, one: Statement, names: Iterable[str]) -> set[Name]:
        """What `names` are in a statement; an imported one is its module's."""
        every = ((one.unit, name) for name in names)
        return {self.links.get(name, name) for name in every}

    def keep(self, own: Iterable[Statement], wanted: Iterable[Name] = ()):
        """The statements `own`, and all that they and the names `wanted` need."""
        names, kept = self._closure(wanted), set()
        self._find(names)
        todo = [*own, *self._made(names)]
        while todo:
            one = todo.pop()
            if one.hidden:
                said = f"uses a name that removed cell {one.cell.number} binds"
                raise SliceError(f"{said}; rename it there")
            if one not in kept:
                kept.add(one)
                self._find(self._reads[one])
                todo += self._needs[one]
        return kept

    def _find(self, names: set[Name]) -> None:
        """Raise unless a lesson, a module or Python has all `names`."""
        for unit, name in sorted(names - self.bound.keys()):
            if name not in PYTHON and unit == PAGE:
                said = f"uses `{name}`, which no lesson of {PAGE} defines"
                raise SliceError(f"{said}: define it in one")
            if name not in PYTHON:
                raise SliceError(f"{unit} has no `{name}`")

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

    def _made(self, names: Iterable[Name]) -> set[Statement]:
        """The statements that made what `names` stand for now."""
        return {one for name in names for one in self._makers.get(name, ())}

    # -- one statement after the other -----------------------------------------
    def _follow(self, one: Statement) -> None:
        if one.hidden:
            self._pass_by(one)
            return
        used = one.uses
        bound = self.names(one, used.bound)
        ours = one.imported and (one.unit, one.imported.bound) in self.links
        names = self.names(one, used.reads | used.later) | (bound if ours else set())
        reads = self._reads[one] = self._closure(names)
        self._needs[one] = self._made(reads) | self._settings
        self._obey(one, used.breaks)
        self._changing |= self.names(one, used.changes)
        if one.fails or one.is_main or ours:
            return
        changed = self._changed(one, names)
        self._bind(one, bound, names, changed)
        foreign = self._made(self.names(one, {sets(one.node)}))
        if any(maker.imported for maker in foreign):
            self._settings.add(one)

    def _bind(
        self, one: Statement, bound: set[Name], names: set[Name], changed: set[Name]
    ) -> None:
        """Note what `one`, which reads `names`, has `bound` and `changed`."""
        later = self.names(one, one.uses.later)
        leads = later.union(*(self._leads.get(name, ()) for name in names))
        for name in self.names(one, one.uses.binds):
            self._makers[name], self._leads[name] = (), set()
            self._alike.pop(name, set()).discard(name)
        for unit, name in bound:
            if unit != one.unit:
                said = f"binds `{name}`, which is imported from {unit}; rename it"
                raise SliceError(said, one.cell)
        self.bound |= dict.fromkeys(bound, one)
        for name in bound | changed:
            self._makers[name] = (*self._makers.get(name, ()), one)
            self._leads[name] = self._leads.get(name, set()) | leads
        if not (one.imported or defines(one.node)):
            alike = {n for n in names | bound | changed if self._is_value(n, one)}
            alike = alike.union(*(self._alike.get(name, ()) for name in alike))
            self._alike |= dict.fromkeys(alike, alike)

    # -- changes ---------------------------------------------------------------
    def _changed(self, one: Statement, names: set[Name]) -> set[Name]:
        """The names of its cell that `one`, reading `names`, may change in place."""
        used, reads = one.uses, self._reads[one]
        if defines(one.node):  # what it defines does not run
            reads = self._closure(self.names(one, used.reads))
        found = self.names(one, used.changes) | (reads - names) & self._changing
        if not found.isdisjoint(self.names(one, used.bound)):  # the name of a loop
            found |= names
        own = {name for name in found if self._is_value(name, one)}
        own |= {n for n in self.names(one, used.breaks) if self._is_near(n, one)}
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

    def _obey(self, one: Statement, breaks: set[str]) -> None:
        """Refuse to change in place what another cell or module made."""
        for name in sorted(self.names(one, breaks)):
            makers = self._makers.get(name, (one,))
            if makers[-1].place != one.place and not makers[0].imported:
                unit, cell = makers[-1].place
                who = f"cell {cell}" if cell else unit
                said = f"changes `{name[1]}` in place, which {who} made"
                raise SliceError(f"{said}: make a new one, or do it in {who}", one.cell)

    def _pass_by(self, one: Statement) -> None:
        """Of a check or a figure, only: it changes nothing that a lesson made."""
        theirs = self._theirs.setdefault(one.cell, set())
        self._obey(one, one.uses.breaks - theirs)
        theirs |= one.uses.bound
        if not (one.cell.check or one.imported):  # the names of a check end with it
            lost = self.names(one, one.uses.bound) & self.bound.keys()
            self._makers |= dict.fromkeys(lost, (one,))
