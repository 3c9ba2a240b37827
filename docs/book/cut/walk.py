"""Walks what runs with one top-level statement: what it reads, binds and changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from book.cut.words import (
    BLOCKS,
    CHANGING,
    HARMLESS,
    SETS,
    SILENT,
    called,
    changed,
    root,
)

_NAMING = (ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.ExceptHandler)


@dataclass
class Uses:
    """Names of one top-level statement, sorted by what happens to them."""

    reads: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)  # by a body, or if not bound yet
    binds: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)  # bound on some paths only
    changes: set[str] = field(default_factory=set)  # in place
    given: set[str] = field(default_factory=set)  # to a call that is a statement
    breaks: set[str] = field(default_factory=set)  # changed: if made elsewhere, refused
    sets: set[str] = field(default_factory=set)  # a state of a module
    changes_later: set[str] = field(default_factory=set)  # by a body
    calls: bool = False

    bound = property(lambda self: self.binds | self.maybe)


class _Walk(ast.NodeVisitor):
    """Walks what runs with one statement; `bodies` of functions run later.

    `local` are the names of the comprehensions and classes that have been entered.
    """

    def __init__(self, node: ast.stmt, postponed: bool) -> None:
        self.postponed, self.assigns = postponed, isinstance(node, ast.Assign)
        self.known: set[str] = set()  # bound by now, for sure
        self.found = Uses(calls=isinstance(node, BLOCKS))
        self.local: set[str] = set()
        self.inside = False  # of a class
        self.plain: set[str] = set()  # bound, but not by `+=` and the like
        self.bodies: list[ast.AST] = []

    def _bind(self, name: str | None) -> None:
        if name and self.inside:
            self.local.add(name)
        elif name and name not in self.local:
            self.found.binds.add(name)
            self.plain.add(name)
            self.known.add(name)

    def _all(self, *nodes: ast.AST | None) -> None:
        for node in filter(None, nodes):
            self.visit(node)

    def visit(self, node: ast.AST) -> None:
        """Visit `node`; what it changes is noted."""
        if isinstance(node, CHANGING):
            names = changed(node) - self.local
            self.found.changes |= names
            self.found.breaks |= set() if isinstance(node, ast.Expr) else names
        if not isinstance(node, ast.Constant):
            super().visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)
        elif node.id not in self.known | self.local:
            self.found.reads.add(node.id)

    def _block(self, node: ast.stmt) -> None:
        before, self.known = self.known, set(self.known)
        for part in ("test", "subject", "iter", "target"):
            self._all(getattr(node, part, None))
        above = self.known
        for branch in ("body", "handlers", "orelse", "finalbody", "cases"):
            self.known = set(above)
            self._all(*getattr(node, branch, ()))
        self.known = before

    visit_If = visit_For = visit_While = visit_Try = visit_TryStar = visit_Match = (
        _block
    )

    def visit_Expr(self, node: ast.Expr) -> None:
        self.visit(node.value)
        call = node.value
        if not isinstance(call, ast.Call) or called(call).startswith(HARMLESS):
            return
        if called(call).startswith(SETS):
            self.found.sets.add(root(call))
        if isinstance(call.func, ast.Attribute) and called(call) in SILENT:
            self.found.breaks.add(root(call.func))
        given = [n for part in (*call.args, *call.keywords) for n in ast.walk(part)]
        self.found.given |= {n.id for n in given if isinstance(n, ast.Name)}

    def visit_Call(self, node: ast.Call) -> None:
        harmless = called(node).startswith(HARMLESS)
        self.found.calls |= not harmless
        if self.assigns and isinstance(node.func, ast.Attribute) and not harmless:
            self.found.changes |= {root(node.func)} - self.local  # xs.pop()
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._all(node.value, *node.targets)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        for names in (self.found.binds, self.found.maybe, self.known):
            names.add(node.target.id)  # also from within a comprehension

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name):
            self._all(node.value, node.target)
            return
        self._all(ast.Name(node.target.id, ast.Load()), node.value)
        self.found.binds.add(node.target.id)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        bare = node.value is None and isinstance(node.target, ast.Name)
        self._annotations(node.annotation)
        self._all(node.value, None if bare else node.target)

    def _annotations(self, *nodes: ast.expr | None) -> None:
        reads = set(self.found.reads)
        self._all(*nodes)
        if self.postponed:
            self.found.later |= self.found.reads - reads
            self.found.reads = reads

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.Lambda) -> None:
        given, decorators = node.args, getattr(node, "decorator_list", [])
        self.found.calls |= bool(decorators)
        self._all(*decorators, *given.defaults, *given.kw_defaults)
        rules = [d for d in decorators if isinstance(d, ast.Attribute)]
        self.found.breaks |= {root(d) for d in rules if d.attr in SILENT}
        parameters = [n for n in ast.walk(given) if isinstance(n, ast.arg)]
        self._annotations(*(parameter.annotation for parameter in parameters))
        self._annotations(getattr(node, "returns", None))
        self._bind(getattr(node, "name", None))
        self.bodies.append(node)

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._all(*node.decorator_list, *node.bases, *node.keywords)
        with self._scope(set(), True):
            self._all(*node.body)
        self._bind(node.name)

    def visit_ListComp(self, node: ast.ListComp | ast.DictComp) -> None:
        self.visit(node.generators[0].iter)
        stored = (n for g in node.generators for n in ast.walk(g.target))
        with self._scope({n.id for n in stored if isinstance(n, ast.Name)}, False):
            inside = [part for g in node.generators for part in (g.iter, *g.ifs)][1:]
            values = [getattr(node, part, None) for part in ("elt", "key", "value")]
            self._all(*inside, *values)

    visit_SetComp = visit_DictComp = visit_ListComp

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self.visit_ListComp(node)
        self.bodies.append(node)  # also read when it is used up

    @contextmanager
    def _scope(self, names: set[str], inside: bool) -> Iterator[None]:
        before = self.local, self.inside
        self.local, self.inside = self.local | names, inside
        yield
        self.local, self.inside = before

    def generic_visit(self, node: ast.AST) -> None:
        """Also bind the names that are no `ast.Name`."""
        super().generic_visit(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                self._bind(alias.asname or alias.name.split(".")[0])
        elif isinstance(node, _NAMING):
            self._bind(getattr(node, "name", None) or getattr(node, "rest", None))


def walk(node: ast.stmt, postponed: bool) -> tuple[Uses, list[ast.AST]]:
    """What runs with a statement does with names; and the functions that run later."""
    one = _Walk(node, postponed)
    one.visit(node)
    one.found.breaks -= one.plain
    return one.found, one.bodies
