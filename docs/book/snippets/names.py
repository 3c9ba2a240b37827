"""Which names a top-level statement reads, binds and changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from book.snippets.vocabulary import HARMLESS, called, is_silent, root

_BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.TryStar, ast.Match, ast.With)
_BRANCHES = {"body", "handlers", "orelse", "finalbody", "cases"}
_FIRST = ("decorator_list", "generators", "iter", "value")  # the others as they stand


@dataclass(eq=False)
class Uses:
    """The names of a page or module that code uses as it runs, by what it does."""

    reads: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)  # bound, on some paths, or by `+=`
    later: set[str] = field(default_factory=set)  # read when its functions are called
    changes: set[str] = field(default_factory=set)  # in place, it or a function of it
    breaks: set[str] = field(default_factory=set)  # changed for sure, as it runs
    takes: set[str] = field(default_factory=set)  # whose methods it calls: xs.pop()

    bound = property(lambda self: self.binds | self.maybe)


class _Flow(Uses, ast.NodeVisitor):
    """Follows code as it runs; the bodies of functions run later."""

    def __init__(self, known: Iterable[str] = (), shown: bool = False):
        super().__init__()
        self._known = set(known)  # bound by now
        self._outer: set[str] = set()  # `global` or `nonlocal`
        self._shown = shown

    def generic_visit(self, node: ast.AST) -> None:
        """Visit what runs first, first; what a branch binds is known in it only."""
        for name in _in_order(node._fields):
            part, known = getattr(node, name, None), self._known
            if name in _BRANCHES:
                self._known = set(known)
            for child in part if isinstance(part, list) else (part,):
                if isinstance(child, ast.AST) and type(child) is not ast.Constant:
                    self.visit(child)
            self._known = known

    # -- names -----------------------------------------------------------------
    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Store) and node.id not in self._known:
            self.reads.add(node.id)  # `del` needs it, too
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)

    def _bind(self, name: str | None) -> None:
        if name:
            self._known.add(name)
            self.binds.add(name)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.maybe.add(node.target.id)  # also from within a comprehension

    def visit_alias(self, node: ast.alias) -> None:
        self._bind(node.asname or node.name.split(".")[0])

    def visit_arg(self, node: ast.arg) -> None:
        self._bind(node.arg)
        self.generic_visit(node)

    def visit_ExceptHandler(
        self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar
    ) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_ExceptHandler

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self._outer.update(node.names)
        self.reads.update(node.names)
        self.changes.update(node.names)

    visit_Nonlocal = visit_Global

    # -- changes ---------------------------------------------------------------
    def visit_Attribute(self, node: ast.Attribute | ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._break(root(node))
        self.generic_visit(node)

    visit_Subscript = visit_Attribute

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._break(root(node.target))
        if isinstance(node.target, ast.Name):
            self.visit(ast.Name(node.target.id, ast.Load()))
            self.maybe.add(node.target.id)
        else:
            self.visit(node.target)

    def _break(self, name: str) -> None:
        self.breaks.add(name)
        self.changes.add(name)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call is there for its effect, unless a notebook shows what it returns."""
        call = node.value
        if is_silent(getattr(call, "func", None)):
            self._break(root(call))
        if isinstance(call, ast.Call) and not called(call).startswith(HARMLESS):
            self.changes.add(root(call))
            if not self._shown:
                given = (*call.args, *call.keywords)
                parts = (part for one in given for part in ast.walk(one))
                self.changes |= {p.id for p in parts if isinstance(p, ast.Name)}
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        is_method = isinstance(node.func, ast.Attribute)
        if is_method and not called(node).startswith(HARMLESS):
            self.takes.add(root(node))
        self.generic_visit(node)

    # -- what has names of its own ---------------------------------------------
    def visit_FunctionDef(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    ) -> None:
        rules = getattr(node, "decorator_list", ())
        for part in (*rules, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        for rule in filter(is_silent, rules):  # @f.def_vmap
            self._break(root(rule))
        inner = _Flow()
        inner.generic_visit(node)
        own = inner.bound - inner._outer
        self.later |= (inner.reads | inner.later) - own
        self.changes |= inner.changes - own
        self.takes |= inner.takes - own
        self._bind(getattr(node, "name", None))

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_ListComp(self, node: ast.AST) -> None:
        """A comprehension or a class: it runs at once, and has names of its own."""
        inner = _Flow(self._known)
        inner.generic_visit(node)
        own = inner.binds
        self.reads |= inner.reads
        self.maybe |= inner.maybe
        self.changes |= inner.changes - own
        self.takes |= inner.takes - own
        self.breaks |= inner.breaks - own
        if isinstance(node, ast.ClassDef):  # its methods do not see its names
            self.later |= inner.later
            self._bind(node.name)
        elif isinstance(node, ast.GeneratorExp):
            self.later |= (inner.later | inner.reads) - own
        else:
            self.later |= inner.later - own

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp
    visit_ClassDef = visit_ListComp


@cache
def _in_order(fields: tuple[str, ...]) -> list[str]:
    """The fields of a node, in the order of running."""
    first = [name for name in _FIRST if name in fields]
    return first + [name for name in fields if name not in (*first, "ctx", "op")]


def uses(node: ast.stmt, shown: bool = False) -> Uses:
    """What a top-level statement does with names; shown: a notebook displays it."""
    found = _Flow(shown=shown)
    found.visit(node)
    found.breaks -= found.binds
    if isinstance(node, ast.Assign):  # y = xs.pop()
        found.changes |= found.takes
    if isinstance(node, _BLOCKS):
        found.maybe, found.binds = found.bound, set()
    return found
