"""What changes when a statement runs, besides the names that it binds.

A list changes under every name that it has, and a function may change what it reaches.
So each name leads to others: those it may share a value with, and those whose values,
or functions, it has inside.  Where this cannot know, it says "may": a program then has
a statement too many, not one too few.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from book.cut.names import Facts
from book.cut.syntax import (
    COPIES,
    FRESH,
    ITERATORS,
    SOURCES,
    TRANSFORMS,
    WRAPS,
    arguments,
    called,
    changed_by,
    registers,
    root,
    targets,
)

Name = tuple[str, str]  # the page or module, and the name


@dataclass(frozen=True, eq=False)
class Statement:
    """A top-level statement of the page, or of the module called `unit`."""

    node: ast.stmt
    unit: str
    comment: str  # the lines above that belong to it
    code: str
    facts: Facts

    def named(self, names: set[str]) -> set[Name]:
        """`names`, as names of this statement's page or module."""
        return {(self.unit, name) for name in names}


@dataclass
class _Known:
    """What is known of one name, over all of its bindings."""

    shares: set[Name] = field(default_factory=set)  # a value, or a part of one
    holds: set[Name] = field(default_factory=set)  # values inside
    later: set[Name] = field(default_factory=set)  # read when it is called
    writes: set[Name] = field(default_factory=set)  # changed when it is called
    returns: set[Name] = field(default_factory=set)  # by its body, as they are
    # "def", "import", or what it does: "transform", calls of it give arrays; "moving",
    # its use changes it; and the kinds of `Facts`.
    kinds: set[str] = field(default_factory=set)


@dataclass
class _Flow:
    """What a name that is given the value of an expression is known for."""

    shares: set[Name] = field(default_factory=set)
    holds: set[Name] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)

    @property
    def all(self) -> set[Name]:
        return self.shares | self.holds


class Changes:
    """The changes that `statements` make, which run in this order.

    `links` says which name of another module an imported name is.
    """

    def __init__(self, statements: Iterable[Statement], links: dict[Name, Name]):
        self._known: dict[Name, _Known] = defaultdict(_Known)
        self._links = links
        for statement in statements:
            self._learn(statement)
        for statement in statements:  # what a call changes may keep what it was given
            found = statement.facts
            whole = isinstance(statement.node, ast.FunctionDef | ast.ClassDef)
            given = statement.named(found.reads | (found.binds if whole else set()))
            given -= self._of("import", given)
            for name in self._data(self._called(statement)):
                self._known[name].holds |= given - {name}
        self._reached = {name: self._reach({name}) for name in list(self._known)}

    def closure(self, names: Iterable[Name]) -> set[Name]:
        """`names`, and what the functions that they lead to read when called."""
        return _walk(
            names,
            lambda name: set().union(
                *(self._known[reached].later for reached in self._reach({name}))
            ),
        )

    def made_by(self, statement: Statement) -> tuple[set[Name], bool]:
        """The names that may change, and whether what no name holds does."""
        found, named = statement.facts, statement.named
        changed = named(found.writes) | self._called(statement)
        changed |= self._data(self._reach(named(found.deep)))
        changed |= self._of("moving", self._reach(named(found.reads)))
        affected, outside = self._affected(changed)
        if isinstance(statement.node, ast.AugAssign):  # in place, if it is a list
            affected |= self._affected(named(found.binds))[0]
        return affected, outside

    def _called(self, statement: Statement) -> set[Name]:
        """The names that change because of what a statement calls."""
        found, named = statement.facts, statement.named
        changed: set[Name] = set()
        if found.calls:
            whole = isinstance(statement.node, ast.FunctionDef | ast.ClassDef)
            reads = named(found.reads | (set() if whole else found.later))
            used = self._reach(self.closure(reads))
            all_of, some = self._of("changes all", used), self._of("changes", used)
            for name in used:
                known = self._known[name]
                changed |= known.writes
                if name in all_of or known.later & all_of:
                    changed |= self._data(self._reach(known.later | known.holds))
                elif name in some or known.later & some:
                    inside = known.holds if name in some else known.later
                    changed |= self._data(inside)
            given = named(found.reads)
            changed |= self._data(self._reach(given)) if all_of else set()
            changed |= self._data(given) if some else set()
            if changed:  # what `jit` returns remembers that it was called
                changed |= self._of("transform", self._reach(named(found.reads)))
        if found.handed and not self._of("def", self._reach(named(found.handed))):
            changed |= named(found.handed)
        return changed

    def _affected(self, changed: set[Name]) -> tuple[set[Name], bool]:
        shared = set().union(*(self._known[name].shares for name in changed))
        shared = changed | self._reach(shared)
        values = changed | self._data(shared)
        names = {name for name, reached in self._reached.items() if reached & values}
        names |= changed
        return names - self._of("import", names), bool(self._of("import", shared))

    def _reach(self, names: set[Name]) -> set[Name]:
        """`names`, and all that they share a value with or hold."""
        return _walk(
            names, lambda name: self._known[name].shares | self._known[name].holds
        )

    def _of(self, kind: str, names: set[Name]) -> set[Name]:
        return {name for name in names if kind in self._known[name].kinds}

    def _data(self, names: set[Name]) -> set[Name]:
        fixed = self._of("def", names) | self._of("import", names)
        return names - fixed | self._of("value", names)

    # -- learning --------------------------------------------------------------
    def _learn(self, statement: Statement) -> None:
        found, node = statement.facts, statement.node
        for name in found.binds | found.maybe:
            known = self._known[statement.unit, name]
            known.later |= statement.named(found.later)
            known.writes |= statement.named(found.writes_later)
            known.returns |= statement.named(found.returns)
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                known.kinds |= {"def"} | found.kinds
                known.kinds |= {"gives"} if isinstance(node, ast.ClassDef) else set()
                known.holds |= statement.named(found.reads)  # in decorators, defaults
            elif isinstance(getattr(node, "value", None), ast.Lambda):
                known.kinds |= {"def"} | found.kinds
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node, (statement.unit, name))
        for name in found.writes:  # `calls["k"] = lambda: rows` reads rows later
            self._known[statement.unit, name].later |= statement.named(found.later)
        for target, value in _pairs(node):
            flow = self._flow(value, statement.unit)
            inside = isinstance(target, ast.Attribute | ast.Subscript)
            names = {root(target)[0]} - {None} if inside else targets(target)
            for name in statement.named(names):
                known = self._known[name]
                known.shares |= set() if inside else flow.shares - {name}
                known.holds |= (flow.all if inside else flow.holds) - {name}
                known.kinds |= flow.kinds | {"value"}

    def _import(self, node: ast.Import | ast.ImportFrom, name: Name) -> None:
        known = self._known[name]
        if name in self._links:
            known.shares.add(self._links[name])
            return
        module = getattr(node, "module", None) or node.names[0].name
        known.kinds |= {"import", module.split(".")[0]}
        if module == "random":  # its functions all change one hidden state
            known.kinds.add("moving")

    def _flow(self, node: ast.expr | None, unit: str) -> _Flow:
        """What is known of the value of an expression."""

        def flows(nodes: Iterable[ast.expr | None]) -> _Flow:
            found = [self._flow(one, unit) for one in nodes]
            return _Flow(
                set().union(*(flow.shares for flow in found)),
                set().union(*(flow.holds for flow in found)),
                set().union(*(flow.kinds for flow in found)),
            )

        match node:
            case ast.Name():
                name = (unit, node.id)
                return _Flow({name}, set(), self._kinds({name}) & {"moving"})
            case ast.Attribute() | ast.Subscript() | ast.Starred():
                inner = self._flow(node.value, unit)
                # What is taken out of an iterator without a name uses nothing up.
                nameless = isinstance(node.value, ast.Call | ast.GeneratorExp)
                taken = isinstance(node, ast.Starred) and nameless
                return _Flow(
                    inner.all, set(), inner.kinds - ({"moving"} if taken else set())
                )
            case ast.IfExp():
                return flows([node.body, node.orelse])
            case ast.BoolOp():
                return flows(node.values)
            case ast.NamedExpr():
                return flows([node.target, node.value])
            case ast.List() | ast.Tuple() | ast.Set():
                return _Flow(set(), flows(node.elts).all)
            case ast.Dict():
                return _Flow(set(), flows([*node.keys, *node.values]).all)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                own = {
                    (unit, name) for g in node.generators for name in targets(g.target)
                }
                parts = [getattr(node, part, None) for part in ("elt", "key", "value")]
                held, lazy = flows(parts).all, isinstance(node, ast.GeneratorExp)
                if lazy or held & own:
                    held |= flows(g.iter for g in node.generators).all
                return _Flow(set(), held - own, {"moving"} if lazy else set())
            case ast.Call():
                return self._call(node, unit, flows(arguments(node)))
        return _Flow()

    def _call(self, node: ast.Call, unit: str, given: _Flow) -> _Flow:
        name, function = called(node), node.func
        owner = self._flow(getattr(function, "value", function), unit)
        callee = self._reach(owner.all)
        defs, imports = self._of("def", callee), self._of("import", owner.shares)
        values = self._still(given.all)
        builtin = isinstance(function, ast.Name) and not self._kinds(owner.shares)
        if name in WRAPS and not defs:
            return _Flow(set(), values, {"transform"} if name in TRANSFORMS else set())
        applied = isinstance(function, ast.Name) and self._of("transform", callee)
        if applied or (
            isinstance(function, ast.Call) and called(function) in TRANSFORMS
        ):
            return _Flow()
        if defs and not isinstance(function, ast.Attribute):
            returned = set().union(*(self._known[name].returns for name in callee))
            gives = self._of("gives", defs)
            kinds = {"moving"} if self._of("keeps", defs) else set()
            return _Flow(self._data(returned) | values, gives, kinds)
        if (builtin and name in ITERATORS) or name in SOURCES:
            return _Flow(set(), values, {"moving"})
        if self._of("itertools", imports):
            return _Flow(set(), values, {"moving"})
        if (builtin and name in FRESH) or self._of("jax", imports):
            return _Flow()
        if name in COPIES:
            return _Flow(set(), values | self._still(owner.all))
        return _Flow(values | self._still(owner.all), set())

    def _still(self, names: set[Name]) -> set[Name]:
        """Those of `names` that may be found again in what is made of them."""
        moving = {n for n in names if "moving" in self._kinds({n})}
        return names - moving - self._of("import", names)

    def _kinds(self, names: set[Name]) -> set[str]:
        return set().union(*(self._known[name].kinds for name in self._reach(names)))


def _walk(names: Iterable[Name], leads: Callable[[Name], set[Name]]) -> set[Name]:
    """`names`, and all that one comes to from there."""
    seen: set[Name] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(leads(name))
    return seen


def _pairs(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What a statement assigns to what, outside of the bodies of functions."""
    todo = [node]
    while todo:
        part = todo.pop()
        for call in registers(part):
            yield call.func, ast.List(call.args)
        if isinstance(part, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        match part:
            case ast.Assign():
                first, *others = part.targets
                yield from _matched(first, part.value)
                yield from ((other, first) for other in others)
            case ast.AnnAssign(value=ast.expr()) | ast.NamedExpr():
                yield part.target, part.value
            case ast.AugAssign():
                yield part.target, ast.List([part.value])
            case ast.For():
                yield part.target, ast.Starred(part.iter)
            case ast.withitem(optional_vars=ast.expr()):
                yield part.optional_vars, ast.Starred(part.context_expr)
            case ast.Match():
                for case in part.cases:
                    for name in targets(case.pattern):
                        yield ast.Name(name, ast.Store()), ast.Starred(part.subject)
            case ast.Call():
                if changed_by(part) and isinstance(part.func, ast.Attribute):
                    yield part.func, ast.List(arguments(part))
        todo.extend(ast.iter_child_nodes(part))


def _matched(target: ast.AST, value: ast.expr) -> Iterator[tuple[ast.AST, ast.expr]]:
    pairs = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    parts = [*target.elts, *value.elts] if pairs else []
    stars = any(isinstance(part, ast.Starred) for part in parts)
    if pairs and not stars and len(target.elts) == len(value.elts):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from _matched(one, other)
    elif isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield one, ast.Starred(value)
    else:
        yield target, value
