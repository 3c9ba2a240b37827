"""What each statement of a page needs: what made the names that it reads.

A name is made by the statement that binds it, and by those below it in the same cell
that may change it in place.  When the cell is over, what the name stands for is
settled: a cell changes only what it made, and one that visibly changes something else
is refused.  What cannot be seen, a change of an argument by a function say, is found
where the tests compare what a copy prints with what its page shows.

For a lesson that prints `total`, the first two of these three statements are kept:

    total = []                    # makes it
    for n in range(3):            # may change it in place, in the same cell
        total.append(n)
    count = len(total)            # reads it only

Which names a statement binds, reads and changes is found in `names`; which calls change
nothing, or set something that no name holds, is listed in `vocabulary`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from book.snippets.statements import PAGE, PYTHON, Name, SliceError, Statement
from book.snippets.vocabulary import defines, sets, sets_devices, settled


class Needs:
    """What the statements of a page, or of a module, need; they are read in order.

    `links`: what an imported name is in its own module.  Raises `SliceError` where a
    statement changes what another cell made.
    """

    def __init__(self, links: dict[Name, Name], statements: list[Statement]):
        self.links = links
        # The last statement that bound each name.
        self.bound: dict[Name, Statement] = {}
        # Those that made what a name stands for now: the one that bound it first, then
        # those of its cell that may have changed it.
        self._makers: dict[Name, tuple[Statement, ...]] = {}
        # Of a function's name, the names that it reads when it is called.
        self._later: dict[Name, set[Name]] = {}
        # Names that some statement, or the body of some function, changes in place.
        self._changing: set[Name] = set()
        # Statements that set something no name holds, such as a `jax.config`; and, of
        # each statement, those that stand above it.
        self._settings: set[Statement] = set()
        self._settings_above: dict[Statement, set[Statement]] = {}
        # Of each statement: the names that it reads, those of functions that it may
        # call among them, and the statements that made them.
        self._reads: dict[Statement, set[Name]] = {}
        self._needs: dict[Statement, set[Statement]] = {}
        hidden = [one for one in statements if one.hidden]
        for one in statements:
            if one.hidden:
                self._pass_by(one, hidden)
            else:
                self._follow(one)

    def names(self, one: Statement, names: Iterable[str]) -> set[Name]:
        """`names` of a statement with where they are defined: the page, or a module."""
        every = ((one.unit, name) for name in names)
        return {self.links.get(name, name) for name in every}

    def is_ours(self, one: Statement) -> bool:
        """Whether it imports what is the book's own, which a program has in full."""
        return bool(one.imported and (one.unit, one.imported.bound) in self.links)

    def keep(
        self, own: Iterable[Statement], wanted: Iterable[Name] = ()
    ) -> set[Statement]:
        """The statements `own`, and all that they and the names `wanted` need.

        Raises `SliceError` where nobody defines a name.
        """
        names = self._with_later(wanted)
        self._find(names)
        start = [*own, *self._made(names)]
        kept = self._with_needs(start, settings=False)
        if all(map(_only_defines, kept)):  # to be used elsewhere, as it is set there
            return kept
        return self._with_needs(start, settings=True)

    def _with_needs(self, start: list[Statement], settings: bool) -> set[Statement]:
        """The statements `start`, and all that they need, with or without settings."""
        todo, kept = [*start], set()
        while todo:
            one = todo.pop()
            if one.hidden:
                said = f"uses a name that removed cell {one.number} binds"
                raise SliceError(f"{said}; rename it there")
            if one not in kept:
                kept.add(one)
                self._find(self._reads[one])
                todo += self._needs[one]
                if settings:
                    todo += self._settings_above[one]
        return kept

    def _find(self, names: set[Name]) -> None:
        """Raise unless a lesson, a module or Python has all `names`."""
        for unit, name in sorted(names - self.bound.keys()):
            if name not in PYTHON and unit == PAGE:
                said = f"uses `{name}`, which no lesson of {PAGE} defines"
                raise SliceError(f"{said}: define it in one")
            if name not in PYTHON:
                raise SliceError(f"{unit} has no `{name}`")

    def _with_later(self, names: Iterable[Name]) -> set[Name]:
        """`names`, and those that the functions among them read when called."""
        seen: set[Name] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self._later.get(name, ())
        return seen

    def _made(self, names: Iterable[Name]) -> set[Statement]:
        """The statements that made what `names` stand for now."""
        return {one for name in names for one in self._makers.get(name, ())}

    # -- one statement after the other -----------------------------------------
    def _follow(self, one: Statement) -> None:
        used, bound = one.uses, self.names(one, one.uses.bound)
        ours = self.is_ours(one)
        names = self.names(one, used.reads | used.later) | (bound if ours else set())
        reads = self._reads[one] = self._with_later(names)
        self._needs[one] = self._made(reads)
        self._settings_above[one] = {*self._settings}
        self._refuse_changes(one, used.breaks)
        self._refuse_to_move(one)
        self._changing |= self.names(one, used.changes)
        if one.fails or one.is_main or ours:
            return
        modules = self._imported(one, sets(one.node))
        if modules:
            self._settings.add(one)
        self._bind(one, bound, names, self._changed(one, names) - modules)

    def _imported(self, one: Statement, names: set[str]) -> set[Name]:
        """Those of `names` that are imported from elsewhere, not from our modules."""
        every = self.names(one, names)
        made = {name: self._makers.get(name, ()) for name in every}
        return {name for name in every if any(m.imported for m in made[name])}

    def _bind(
        self, one: Statement, bound: set[Name], names: set[Name], changed: set[Name]
    ) -> None:
        """Note what `one`, which reads `names`, has `bound` and `changed`."""
        for unit, imported in bound:
            if unit != one.unit:
                said = f"binds `{imported}`, which is imported from {unit}; rename it"
                raise SliceError(said, one.cell)
        later = self.names(one, one.uses.later)
        later = later.union(*(self._later.get(name, ()) for name in names))
        for name in self.names(one, one.uses.binds):
            self._makers[name], self._later[name] = (), set()
        self.bound |= dict.fromkeys(bound, one)
        for name in bound | changed:
            self._makers[name] = (*self._makers.get(name, ()), one)
            self._later[name] = self._later.get(name, set()) | later

    def _pass_by(self, one: Statement, hidden: list[Statement]) -> None:
        """Note a check or a figure, which may change nothing that a lesson made."""
        own = {
            n for other in hidden if other.cell is one.cell for n in other.uses.bound
        }
        self._refuse_changes(one, one.uses.breaks - own)
        is_check = one.cell is not None and one.cell.check
        if not (is_check or one.imported):  # the names of a check end with it
            lost = self.names(one, one.uses.bound) & self.bound.keys()
            self._makers |= dict.fromkeys(lost, (one,))

    # -- changes in place ------------------------------------------------------
    def _changed(self, one: Statement, names: set[Name]) -> set[Name]:
        """The names of its cell that `one`, reading `names`, may change in place."""
        used, reads = one.uses, self._reads[one]
        if defines(one.node):  # what it defines does not run
            reads = self._with_later(self.names(one, used.reads))
        through_functions = reads - names
        found = self.names(one, used.changes)
        found |= through_functions & self._changing
        if found & self.names(one, used.bound):
            # In `for row in table: row.append(0)` the name that is changed stands for
            # a part of one that is read.
            found |= names
        changed = {name for name in found if self._is_value(name, one)}
        surely = {n for n in self.names(one, used.breaks) if self._is_near(n, one)}
        return changed | surely

    def _is_near(self, name: Name, one: Statement) -> bool:
        """Whether the same cell made it, or changed it last."""
        makers = self._makers.get(name, ())
        return any(maker.place == one.place for maker in makers[-1:])

    def _is_value(self, name: Name, one: Statement) -> bool:
        """Whether it is near, and was made neither by an import nor by a `def`.

        Nor by a call whose result nothing changes in place, such as one that makes a
        `jax.Array`.
        """
        if not self._is_near(name, one):
            return False
        maker = self._makers[name][0]
        return not (maker.imported or settled(maker.node))

    def _refuse_changes(self, one: Statement, changed: set[str]) -> None:
        """Refuse to change in place what another cell or module made."""
        for name in sorted(self.names(one, changed)):
            makers = self._makers.get(name, (one,))
            if makers[-1].place != one.place and not makers[0].imported:
                unit, cell = makers[-1].place
                who = f"cell {cell}" if cell else unit
                said = f"changes `{name[1]}` in place, which {who} made"
                raise SliceError(f"{said}: make a new one, or do it in {who}", one.cell)

    def _refuse_to_move(self, one: Statement) -> None:
        """Refuse an import below what it may depend on: copies have imports first.

        No import depends on the number of devices, which pages set where they like.
        """
        if not one.imported or one.fails:
            return
        for above in sorted(self._settings, key=lambda s: s.node.lineno):
            if above.place == one.place and not sets_devices(above.code):
                what = ast.unparse(above.node).partition("\n")[0]
                said = f"imports below `{what}`, which a copy has below its imports"
                where = "" if one.cell else f"{one.unit}: "
                raise SliceError(f"{where}{said}: move those up", one.cell)


def _only_defines(one: Statement) -> bool:
    """Whether a statement imports or defines something, and computes nothing."""
    return not one.fails and (bool(one.imported) or defines(one.node))
