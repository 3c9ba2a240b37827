"""What a statement reads, binds and changes: the facts that slicing needs.

A name read inside a function body is read later, when the function is called, so it is
kept apart from the names that the statement reads at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from book.cut.scopes import Scope, parameters
from book.cut.syntax import (
    COMPREHENSIONS,
    FUNCTIONS,
    WRAPS,
    arguments,
    bound_by,
    called,
    changed_by,
    harmless,
    registers,
    root,
)

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar)
_LEAVES = (ast.Raise, ast.Return, ast.Break, ast.Continue)
_BIRTH = {"__init__", "__post_init__"}


@dataclass
class Facts:
    """Names of one top-level statement, sorted by what happens to them."""

    reads: set[str] = field(default_factory=set)  # before it binds them itself
    later: set[str] = field(default_factory=set)  # by a body, when it is called
    binds: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)  # bound on some paths only
    writes: set[str] = field(default_factory=set)  # changed in place
    deep: set[str] = field(default_factory=set)  # with what is inside them
    writes_later: set[str] = field(default_factory=set)  # by a body, when it is called
    handed: set[str] = field(default_factory=set)  # to a call made for its effect
    returns: set[str] = field(default_factory=set)  # by a body, as they are
    calls: bool = False
    # Of bodies: "changes" what they are given; "changes all" that they read or reach;
    # "gives" functions; "keeps", returns what changes when it is used.
    kinds: set[str] = field(default_factory=set)


def facts(statement: ast.stmt, last: bool = False, postponed: bool = False) -> Facts:
    """The facts of a top-level statement; `last` if its value would be displayed.

    Annotations are `postponed` by `from __future__ import annotations`.
    """
    visitor = _Visitor(postponed)
    visitor.visit(statement)
    found = visitor.facts
    found.binds = visitor.bound
    found.maybe -= found.binds
    if any(isinstance(node, _LOOPS) for node in ast.walk(statement)):
        # What is read may have been bound by an earlier turn.
        found.later |= found.reads & (found.maybe | found.binds)
        found.reads -= found.maybe | found.binds
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if not last and not harmless(call):
            values = [call.func, *arguments(call)]
            found.handed = {root(value)[0] for value in values} - {None}
    return found


class _Visitor(ast.NodeVisitor):
    """Walks one statement in the order in which Python runs it.

    `bound` are the names of the page that it has bound on every path so far, `scopes`
    what has been entered.
    """

    def __init__(self, postponed: bool) -> None:
        self.postponed = postponed
        self.facts = Facts()
        self.bound: set[str] = set()
        self.scopes: list[Scope] = []

    # -- names -----------------------------------------------------------------
    def _owner(self, name: str) -> Scope | None:
        """The scope that a name belongs to; None for the page."""
        for scope in reversed(self.scopes):
            # What a class binds is not seen by the functions in it.
            hidden = isinstance(scope.node, ast.ClassDef) and scope != self.scopes[-1]
            if name in scope.names and not hidden:
                return scope
        return None

    @property
    def _deferred(self) -> bool:
        return any(isinstance(scope.node, FUNCTIONS) for scope in self.scopes)

    def _read(self, name: str) -> None:
        if self._owner(name):
            return
        if self._deferred:
            self.facts.later.add(name)
        elif name not in self.bound:
            self.facts.reads.add(name)
            if any(isinstance(s.node, ast.GeneratorExp) for s in self.scopes):
                self.facts.later.add(name)

    def _write(self, name: str | None, deep: bool = False) -> None:
        owner = self._owner(name) if name else None
        if owner and isinstance(owner.node, COMPREHENSIONS):
            for generator in owner.node.generators:  # a row of what is walked through
                for node in ast.walk(generator.iter):
                    self._write(getattr(node, "id", None), True)
        elif owner and isinstance(owner.node, FUNCTIONS):
            birth = getattr(owner.node, "name", "") in _BIRTH
            if name not in owner.made and not birth:
                direct = name in owner.given and not deep
                self.facts.kinds.add("changes" if direct else "changes all")
            if owner is not self.scopes[-1]:
                owner.kinds |= {"keeps"} if "gives" in owner.kinds else set()
        elif name and not owner:
            facts = self.facts
            (facts.writes_later if self._deferred else facts.writes).add(name)
            if deep:
                facts.kinds |= {"changes all"} if self._deferred else set()
                facts.deep |= set() if self._deferred else {name}

    def _bind(self, name: str) -> None:
        scopes = [s for s in self.scopes if not isinstance(s.node, COMPREHENSIONS)]
        if scopes and name not in scopes[-1].declared:
            scopes[-1].names.add(name)  # for a class; a function knows its own
        elif not self._deferred:
            self.bound.add(name)
        elif owner := self._owner(name):  # `nonlocal`
            owner.kinds |= {"keeps"} if "gives" in owner.kinds else set()
        else:  # `global`
            self.facts.writes_later.add(name)

    def _paths(self, *branches: Iterable[ast.AST | None]) -> None:
        """Visit branches of which one is taken: what all of them bind is bound."""
        before, ends = self.bound, []
        for branch in branches:
            self.bound, final = set(before), None
            for node in filter(None, branch):
                self.visit(node)
                final = node
            self.facts.maybe |= self.bound - before
            if isinstance(final, ast.ExceptHandler):
                final = final.body[-1]
            if not isinstance(final, _LEAVES):
                ends.append(self.bound)
        self.bound = before | (set.intersection(*ends) if ends else set())

    def visit(self, node: ast.AST) -> None:
        """Visit `node`; what it binds is bound after its children have run."""
        super().visit(node)
        for name in bound_by(node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
                self._write(name)
            elif not isinstance(node, ast.ExceptHandler):  # whose name is gone after it
                self._bind(name)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Store):
            self._read(node.id)

    def visit_Attribute(self, node: ast.Attribute | ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            name, steps = root(node)
            self._write(name, len(steps) > 1)
        self.generic_visit(node)

    visit_Subscript = visit_Attribute

    def visit_Call(self, node: ast.Call) -> None:
        self.facts.calls |= not (
            self._deferred or called(node) in WRAPS or harmless(node)
        )
        self.generic_visit(node)
        self._write(*(changed_by(node) or [None]))

    # -- order -----------------------------------------------------------------
    def _in_order(self, *nodes: ast.AST | None) -> None:
        for node in filter(None, nodes):
            self.visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._in_order(node.value, *node.targets)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._in_order(node.value, node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._read(node.target.id)
        self._in_order(node.value, node.target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        bare = node.value is None and isinstance(node.target, ast.Name)
        self._annotations(node.annotation)
        self._in_order(node.value, None if bare else node.target)

    def _annotations(self, *nodes: ast.expr | None) -> None:
        reads, later = set(self.facts.reads), self.facts.later
        self._in_order(*nodes)
        if self.postponed:
            later |= self.facts.reads - reads
            self.facts.reads = reads

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._paths(node.body, node.orelse)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._paths([node.body], [node.orelse])

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])
        self._paths(node.values[1:], [])

    def visit_For(self, node: ast.For | ast.While) -> None:
        self.visit(node.test if isinstance(node, ast.While) else node.iter)
        self.facts.calls |= not self._deferred  # `__next__`
        self._paths([getattr(node, "target", None), *node.body], [])
        self._paths(node.orelse, [])

    visit_AsyncFor = visit_While = visit_For

    def visit_Try(self, node: ast.Try) -> None:
        # A handler may run when nothing of the body has.
        self._paths([*node.body, *node.orelse], *([h] for h in node.handlers))
        self._in_order(*node.finalbody)

    visit_TryStar = visit_Try

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        mine = {node.name} - {None} - self.bound
        self._in_order(node.type)
        self.bound |= mine
        self._in_order(*node.body)
        self.bound -= mine

    def visit_With(self, node: ast.With) -> None:
        known = self.facts.writes | self.facts.writes_later
        self.facts.calls |= not self._deferred  # `__enter__`
        self._in_order(*node.items)
        # What `with jax.set_mesh(…)` sets is set back at its end.
        contexts = [item.context_expr for item in node.items]
        outer = {root(getattr(context, "func", context))[0] for context in contexts}
        self.facts.writes -= outer - known
        self.facts.writes_later -= outer - known
        swallows = any("suppress" in ast.unparse(context) for context in contexts)
        self._paths(node.body, *([[]] if swallows else []))

    visit_AsyncWith = visit_With

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        last = node.cases[-1]
        whole = isinstance(last.pattern, ast.MatchAs) and not last.pattern.pattern
        cases = [[case.pattern, case.guard, *case.body] for case in node.cases]
        self._paths(*cases, *([] if whole and not last.guard else [[]]))

    # -- scopes ----------------------------------------------------------------
    def _function(self, node: ast.FunctionDef | ast.Lambda) -> None:
        given, decorators = node.args, getattr(node, "decorator_list", [])
        self.facts.calls |= any(called(d) not in WRAPS for d in decorators)
        self._in_order(*decorators, *given.defaults)
        self._in_order(*given.kw_defaults)
        self._annotations(*(parameter.annotation for parameter in parameters(node)))
        self._annotations(getattr(node, "returns", None))
        self.scopes.append(Scope(node))
        bound, self.bound = self.bound, set()
        self._in_order(*([node.body] if isinstance(node, ast.Lambda) else node.body))
        self.bound = bound
        scope = self.scopes.pop()
        if not self._deferred:
            self.facts.kinds |= scope.kinds
            self.facts.returns |= scope.returns
        for call in registers(node):
            self._write(*changed_by(call))

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._in_order(*node.decorator_list, *node.bases, *node.keywords)
        self.scopes.append(Scope(node))
        self._in_order(*node.body)
        self.scopes.pop()

    def _comprehension(self, node: ast.ListComp | ast.DictComp) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        self.scopes.append(Scope(node))
        inside = [part for g in others for part in (g.iter, *g.ifs)]
        values = [getattr(node, part, None) for part in ("elt", "key", "value")]
        self._paths([*first.ifs, *inside, *values], [])
        self.scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension
