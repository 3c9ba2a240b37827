"""Which names a top-level statement defines, and which it uses, and when.

What a function reads, it reads later, when it is called: `symtable` says what that is.
What runs with the statement is walked in the order in which Python runs it, so that a
name which the statement binds before it reads it is not asked of another one.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass, field

from book.cut.words import (
    FUNCTIONS,
    WRAPS,
    bound_by,
    called,
    harmless,
    split,
    targets,
)

_BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.TryStar, ast.Match, ast.With)
_DEFERS = (*FUNCTIONS, ast.ClassDef, ast.GeneratorExp)
_EAGER = {"listcomp", "setcomp", "dictcomp"}


@dataclass
class Uses:
    """Names of one top-level statement, sorted by what happens to them."""

    reads: set[str] = field(default_factory=set)  # before it binds them itself
    later: set[str] = field(default_factory=set)  # by a body, when it is called
    binds: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)  # bound on some paths only
    sets_later: set[str] = field(default_factory=set)  # `global`, by a body
    calls: bool = False

    @property
    def bound(self) -> set[str]:
        """All names that it may bind."""
        return self.binds | self.maybe


def uses(statement: ast.stmt, code: str, postponed: bool = False) -> Uses:
    """What a top-level statement, written `code`, does with names.

    Annotations are `postponed` by `from __future__ import annotations`.
    """
    walk = _Walk(postponed)
    walk.visit(statement)
    found = walk.found
    found.binds = walk.bound
    found.maybe -= found.binds
    outside, _ = split(statement)
    if any(isinstance(node, _DEFERS) for node in outside):
        for table in _bodies(symtable.symtable(code, "a cell", "exec")):
            # (Of a function called "top", `is_global` says what is wrong.)
            outer = [s for s in table.get_symbols() if s.is_global()]
            outer = [s for s in outer if not (s.is_local() or s.is_parameter())]
            found.later |= {s.get_name() for s in outer}
            found.sets_later |= {s.get_name() for s in outer if s.is_assigned()}
    if any(isinstance(node, _BRANCHES) for node in outside):
        # What is read may have been bound by another branch, or an earlier turn.
        found.later |= found.reads & found.bound
        found.reads -= found.bound
        found.calls = True
    return found


def _bodies(table: symtable.SymbolTable, inside: bool = False) -> Iterator:
    """The tables of functions, and of all that is inside of them."""
    for child in table.get_children():
        function = child.get_type() == "function" and child.get_name() not in _EAGER
        if inside or function:
            yield child
        yield from _bodies(child, inside or function)


class _Walk(ast.NodeVisitor):
    """Walks what runs with one statement, in order; bodies of functions do not.

    `bound` are the names that it has bound so far, `scopes` those that are bound in the
    comprehensions and classes which have been entered.
    """

    def __init__(self, postponed: bool) -> None:
        self.postponed = postponed
        self.found = Uses()
        self.bound: set[str] = set()
        self.scopes: list[set[str]] = []

    def visit(self, node: ast.AST) -> None:
        """Visit `node`; what it binds is bound after its children have run."""
        super().visit(node)
        for name in bound_by(node):
            (self.scopes[-1] if self.scopes else self.bound).add(name)

    def _in_order(self, *nodes: ast.AST | None) -> None:
        for node in filter(None, nodes):
            self.visit(node)

    def _maybe(self, *nodes: ast.AST | None) -> None:
        """Visit what may not run: what it binds is bound in there only."""
        before, self.bound = self.bound, set(self.bound)
        self._in_order(*nodes)
        self.found.maybe |= self.bound - before
        self.bound = before

    def visit_Name(self, node: ast.Name) -> None:
        known = node.id in self.bound or any(node.id in s for s in self.scopes)
        if isinstance(node.ctx, ast.Load) and not known:
            self.found.reads.add(node.id)

    def visit_Call(self, node: ast.Call) -> None:
        self.found.calls |= not (called(node) in WRAPS or harmless(node))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._in_order(node.value, *node.targets)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.bound.add(node.target.id)  # also from within a comprehension

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.visit(ast.Name(node.target.id, ast.Load()))
        self._in_order(node.value, node.target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        bare = node.value is None and isinstance(node.target, ast.Name)
        self._annotations(node.annotation)
        self._in_order(node.value, None if bare else node.target)

    def _annotations(self, *nodes: ast.expr | None) -> None:
        reads = set(self.found.reads)
        self._in_order(*nodes)
        if self.postponed:
            self.found.later |= self.found.reads - reads
            self.found.reads = reads

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self.visit(node.test)
        for branch in (node.body, node.orelse):
            self._maybe(*(branch if isinstance(branch, list) else [branch]))

    visit_While = visit_IfExp = visit_If

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])
        self._maybe(*node.values[1:])

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._maybe(node.target, *node.body)
        self._maybe(*node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        for branch in ([*node.body, *node.orelse], *([h] for h in node.handlers)):
            self._maybe(*branch)
        self._in_order(*node.finalbody)

    visit_TryStar = visit_Try

    def visit_With(self, node: ast.With) -> None:
        self._in_order(*node.items)
        swallows = any("suppress" in ast.unparse(item) for item in node.items)
        (self._maybe if swallows else self._in_order)(*node.body)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.scopes.append({node.name})  # it is gone after the handler
        self._in_order(node.type, *node.body)
        self.found.maybe |= self.scopes.pop() - {node.name}

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        for case in node.cases:
            self._maybe(case.pattern, case.guard, *case.body)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.Lambda) -> None:
        given, decorators = node.args, getattr(node, "decorator_list", [])
        self.found.calls |= any(called(d) not in WRAPS for d in decorators)
        self._in_order(*decorators, *given.defaults, *given.kw_defaults)
        parameters = [n for n in ast.walk(given) if isinstance(n, ast.arg)]
        self._annotations(*(parameter.annotation for parameter in parameters))
        self._annotations(getattr(node, "returns", None))

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._in_order(*node.decorator_list, *node.bases, *node.keywords)
        self.scopes.append(set())
        self._in_order(*node.body)
        self.scopes.pop()

    def visit_ListComp(self, node: ast.ListComp | ast.DictComp) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        self.scopes.append(targets(*(g.target for g in node.generators)))
        inside = [part for g in others for part in (g.iter, *g.ifs)]
        values = [getattr(node, part, None) for part in ("elt", "key", "value")]
        self._maybe(*first.ifs, *inside, *values)
        self.scopes.pop()

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp
