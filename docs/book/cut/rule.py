"""A cell changes only what it made.

So what a name stands for is settled when its cell is over, and the rest is definition
and use.  Statements are followed once, in order, and what breaks the rule is complained
of.  What functions of the page change when they are called cannot be seen where they
are called: a program has all calls that may change what it needs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache

from book.cut.statements import Name, Statement
from book.cut.words import (
    DEFS,
    KEEPS,
    MOVING,
    PATHS,
    WRAPS,
    called,
    changed,
    given,
    put,
    root,
    sets,
    split,
    targets,
)

_NONE: frozenset = frozenset()


@dataclass(frozen=True)
class Value:
    """What a name stands for.  An object is known by the statement that made it."""

    made: frozenset[Statement] = _NONE  # what it may be, be a part of, or hold
    leads: frozenset[Name] = _NONE  # to what is read when it is called
    sets: frozenset[Name] = _NONE  # changed when it is called
    kind: str = "value"  # or "def", or "import"
    moves: bool = False  # using it changes it, or what it is given
    gives: bool = False  # what it returns moves

    def __or__(self, other: Value) -> Value:
        """One or the other."""
        return Value(
            self.made | other.made,
            self.leads | other.leads,
            self.sets | other.sets,
            other.kind if self.kind == "value" else self.kind,
            self.moves or other.moves,
            self.gives or other.gives,
        )


@dataclass(frozen=True)
class Effect:
    """What comes of a statement where it stands."""

    reads: set[Name]
    binds: set[Name]
    maybe: set[Name]  # bound on some paths, or other than before though not bound anew
    needs: frozenset[Name]  # what it reads, and what is read because it calls
    defers: frozenset[Name]  # what is read when what it defines is called
    outside: bool  # it sets a state that no name holds
    complaint: str
    leads: dict[Name, frozenset[Name]]  # of what it imports


class Rule:
    """Follows statements; `links` says which name of a module an imported name is."""

    def __init__(self, links: dict[Name, Name]):
        self.links = links
        self.known: dict[Name, Value] = {}
        self.made_by: dict[Name, Statement] = {}

    def follow(self, statement: Statement, finished: bool = True) -> Effect:
        """Take one more statement; not `finished` if an error stops it."""
        used, marks, named = statement.uses, _marks(statement), statement.named
        reads, later = named(used.reads), named(used.later)
        defines = isinstance(statement.node, (*DEFS, ast.ClassDef))
        needs = self.closure(reads | later if used.calls and not defines else reads)
        complaint = self._complaint(statement, marks)
        names = named(marks.changes) | self._called(statement, reads, needs)
        touched = self._made(names)
        if finished:
            self._bind(statement, marks, reads)
        touched |= self._made(names)
        outside = {name for name in names if self._kind(name) == "import"}
        alters = names - outside
        if touched:
            found = self.known.items()
            alters |= {n for n, v in found if not touched.isdisjoint(v.made)}
        state = any(self._kind(name) == "import" for name in named(marks.sets))
        binds = named(used.binds)
        leads = {name: self.closure({name}) for name in binds & self.links.keys()}
        return Effect(
            reads,
            binds,
            named(used.maybe) | alters,
            needs,
            self.closure(later),
            state or bool(outside),
            complaint,
            leads,
        )

    def closure(self, names: Iterable[Name]) -> frozenset[Name]:
        """`names`, and what the functions that they lead to read when called."""
        seen: set[Name] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self._value(name).leads
        return frozenset(seen)

    def _value(self, name: Name) -> Value:
        return self.known.get(name, Value())

    def _kind(self, name: Name) -> str:
        return self._value(name).kind

    def _made(self, names: Iterable[Name]) -> frozenset[Statement]:
        return _NONE.union(*(self._value(name).made for name in names))

    # -- changes ---------------------------------------------------------------
    def _called(self, statement: Statement, reads, needs) -> set[Name]:
        """The names that may change because of what a statement calls."""
        callees = [self._value(name) for name in needs if statement.uses.calls]
        found = set().union(*(value.sets for value in callees))
        callees = [self._value(name) for name in reads if statement.uses.calls]
        if found or any(value.moves for value in callees):
            found |= {name for name in reads if self._kind(name) == "value"}
        return found

    def _complaint(self, statement: Statement, marks: _Marks) -> str:
        """What to say if it changes what another cell or module made."""
        used, here = statement.uses, statement.place
        for name in sorted(marks.changes):
            key = (statement.unit, name)
            places = {maker.place for maker in self._value(key).made}
            if name in used.bound:
                asked = name in marks.augments and name in used.reads | used.later
                places = (
                    {self.made_by[key].place}
                    if asked and key in self.made_by
                    else set()
                )
            for unit, cell in sorted(places) if here not in places else ():
                who = f"cell {cell}" if cell else unit
                return (
                    f"changes `{name}` in place, which {who} made: "
                    f"make a new one, or do it in {who}"
                )
        return ""

    # -- bindings --------------------------------------------------------------
    def _bind(self, statement: Statement, marks: _Marks, reads: set[Name]) -> None:
        used, named = statement.uses, statement.named
        known = [self._value(name) for name in reads]
        base = Value(
            frozenset({statement}),
            named(used.later).union(*(value.leads for value in known)),
            named(marks.later).union(*(value.sets for value in known)),
            "def" if isinstance(statement.node, (*DEFS, ast.ClassDef)) else "value",
            marks.moves,
            marks.gives,
        )
        found: dict[str, Value] = {}
        for name, value in marks.given:
            new = self._given(statement, value, base)
            found[name] = found[name] | new if name in found else new
        for name, value in marks.put:
            old = self._value((statement.unit, name))
            held = replace(base, made=self._held(statement, value), moves=False)
            found[name] = old if old.kind == "import" else old | held
        for name in used.bound | set(found):
            key, new = (statement.unit, name), found.get(name, base)
            if statement.is_import:
                new = (
                    self._value(self.links[key])
                    if key in self.links
                    else Value(kind="import")
                )
            self.known[key] = self._value(key) | new if name in used.maybe else new
            if name in used.bound:
                self.made_by[key] = statement

    def _given(self, statement: Statement, value: ast.expr, base: Value) -> Value:
        """What a name is that is given the value, or an element of it."""
        made = self._held(statement, value)
        if not isinstance(value, PATHS) or not made:
            made |= base.made
        kind = "def" if isinstance(value, ast.Lambda) else "value"
        moves = base.moves or self._moves(statement, value)
        return replace(base, made=made, kind=kind, moves=moves, gives=False)

    def _held(self, statement: Statement, node: ast.AST) -> frozenset[Statement]:
        """The objects named in an expression, but for calls, which make others."""
        if isinstance(node, ast.Name):
            name = (statement.unit, node.id)
            return self._value(name).made
        if isinstance(node, ast.Lambda):
            return _NONE
        if isinstance(node, ast.Call) and called(node) not in KEEPS:
            return _NONE
        parts = ast.iter_child_nodes(node)
        return _NONE.union(*(self._held(statement, part) for part in parts))

    def _moves(self, statement: Statement, node: ast.AST) -> bool:
        """Whether using the value changes it: an iterator, a source of numbers."""
        value = self._value((statement.unit, root(getattr(node, "func", node))[0]))
        if isinstance(node, ast.Call):
            used = called(node) in WRAPS and any(
                self._moves(statement, part) for part in node.args
            )
            return (
                used or called(node) in MOVING or (value.moves and value.kind == "def")
            )
        return isinstance(node, ast.GeneratorExp) or value.moves


@dataclass
class _Marks:
    """What the words of one statement say of changes."""

    changes: set[str] = field(default_factory=set)
    given: list[tuple[str, ast.expr]] = field(default_factory=list)
    put: list[tuple[str, ast.expr]] = field(default_factory=list)
    augments: set[str] = field(default_factory=set)
    sets: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)  # changed by a body
    moves: bool = False  # a body changes what it is given
    gives: bool = False  # a body keeps a state, for what it returns


@cache
def _marks(statement: Statement) -> _Marks:
    node, used = statement.node, statement.uses
    outside, inside = split(node)
    found = _Marks(later=set(used.sets_later))
    contexts = {getattr(part, "context_expr", None) for part in outside}
    rows: dict[str, set[str]] = {}  # names of a comprehension: what it goes through
    for part in outside:
        if isinstance(part, ast.comprehension):
            walked = {n.id for n in ast.walk(part.iter) if isinstance(n, ast.Name)}
            rows |= dict.fromkeys(targets(part.target), walked)
        elif isinstance(part, ast.AugAssign):
            found.augments |= {getattr(part.target, "id", "")}
        if part not in contexts:  # what a block sets is set back at its end
            found.changes |= changed(part)
            found.sets |= sets(part)
        found.given += given(part)
        found.put += put(part)
    for name in found.changes & set(rows):
        found.changes |= rows[name]
    found.changes -= set(rows)
    contexts = {getattr(part, "context_expr", None) for part, _ in inside}
    for part, parameters in inside:
        found.gives |= isinstance(part, ast.Yield | ast.YieldFrom | ast.Nonlocal)
        names = changed(part) | sets(part) if part not in contexts else set()
        found.moves |= not parameters.isdisjoint(names)
        found.later |= (names - parameters) & used.later
    if isinstance(node, ast.ClassDef):
        found.moves, found.gives = False, found.moves
    return found
