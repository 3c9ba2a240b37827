"""Which names a top-level statement reads, binds and changes.

What a function reads, it reads later, when it is called: `symtable` says what that is.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from book.cut import words

_BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.TryStar, ast.Match, ast.With)
_BRANCHES = {"body", "handlers", "orelse", "finalbody", "cases"}
_FIRST = ("decorator_list", "generators", "iter", "value")  # the others as they stand
_LATER = (*words.BODIES, ast.GeneratorExp)
_AT_ONCE = {"listcomp", "setcomp", "dictcomp"}


@dataclass
class Uses:
    """The names of a page or module that a statement uses, by what it does to them."""

    reads: set[str] = field(default_factory=set)  # functions in it read these later
    binds: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)  # bound, on some paths
    later: set[str] = field(default_factory=set)  # read in functions and annotations
    changes: set[str] = field(default_factory=set)  # in place, it or a function of it
    breaks: set[str] = field(default_factory=set)  # changed for sure, as it runs
    sets: set[str] = field(default_factory=set)  # modules, whose state it sets

    bound = property(lambda self: self.binds | self.maybe)


class _Flow(ast.NodeVisitor):
    """Follows a statement as it runs; the bodies of functions do not run with it."""

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.binds: set[str] = set()
        self.adds: set[str] = set()  # bound by `+=`
        self.maybe: set[str] = set()  # bound by `:=`
        self.known: set[str] = set()  # bound by now
        self.inside = False  # of a class or a comprehension, whose names are its own

    def generic_visit(self, node: ast.AST) -> None:
        """Visit what runs first, first; what a branch binds is known in it only."""
        for name in _fields(type(node)):
            part, known = getattr(node, name, None), self.known
            if name in _BRANCHES:
                self.known = set(known)
            for child in part if isinstance(part, list) else (part,):
                if isinstance(child, ast.AST) and type(child) is not ast.Constant:
                    self.visit(child)
            self.known = known

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)
        elif node.id not in self.known:
            self.reads.add(node.id)

    def _bind(self, name: str | None) -> None:
        if name:
            self.known.add(name)
            if not self.inside:
                self.binds.add(name)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.maybe.add(node.target.id)  # also from within a comprehension

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.visit(ast.Name(node.target.id, ast.Load()))
            self.adds.add(node.target.id)
        else:
            self.visit(node.target)

    def visit_alias(self, node: ast.alias) -> None:
        self._bind(node.asname or node.name.split(".")[0])

    def visit_ExceptHandler(self, node: ast.AST) -> None:
        self._bind(getattr(node, "name", None) or getattr(node, "rest", None))
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = visit_ExceptHandler

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.Lambda) -> None:
        given = (*node.args.defaults, *node.args.kw_defaults)
        for part in filter(None, (*getattr(node, "decorator_list", ()), *given)):
            self.visit(part)
        self._bind(getattr(node, "name", None))

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_ListComp(self, node: ast.AST) -> None:
        before = self.known, self.inside
        self.known, self.inside = set(self.known), True
        self.generic_visit(node)
        self.known, self.inside = before
        self._bind(getattr(node, "name", None))

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp
    visit_ClassDef = visit_ListComp


@cache
def _fields(kind: type[ast.AST]) -> list[str]:
    """The fields of a node, in the order of running."""
    first = [name for name in _FIRST if name in kind._fields]
    return first + [name for name in kind._fields if name not in (*first, "ctx", "op")]


def uses(node: ast.stmt, code: str, shown: bool = False) -> Uses:
    """What a top-level statement, written `code`, does with names.

    shown: it is an expression, and a notebook displays what it returns.
    """
    flow = _Flow()
    flow.visit(node)
    bound = flow.binds | flow.adds
    maybe = flow.maybe | (bound if isinstance(node, _BLOCKS) else set())
    parts = [*words.within([node])]
    bodies = [part for part in parts if isinstance(part, _LATER)]
    inside = words.acting(words.within(bodies, leave=()))
    parts = words.acting(parts)
    later, assigned = _later(code, bodies) if bodies else (set(), set())
    methods = isinstance(node, ast.Assign)
    changes = words.changed(parts, methods, shown) & (flow.reads | bound)
    changes |= words.changed(inside, methods) & later | assigned
    breaks = words.broken(node, parts) & (flow.reads | bound) - flow.binds
    sets = words.sets(parts)
    return Uses(flow.reads, bound - maybe, maybe, later, changes, breaks, sets)


def _later(code: str, bodies: list[ast.AST]) -> tuple[set[str], set[str]]:
    """The names that the functions in `code` read, annotations too, and assign."""
    parts = [part for body in bodies for part in ast.walk(getattr(body, "args", body))]
    said = [getattr(body, "returns", None) for body in bodies]
    said += [part.annotation for part in parts if isinstance(part, ast.arg)]
    reads, assigned = words.names(*filter(None, said)), set()
    for table in _functions(symtable.symtable(code, "a cell", "exec")):
        # (Of a function called "top", `is_global` says what is wrong.)
        outer = [s for s in table.get_symbols() if s.is_global() and not s.is_local()]
        outer = [s for s in outer if not s.is_parameter()]
        reads |= {s.get_name() for s in outer}
        assigned |= {s.get_name() for s in outer if s.is_assigned()}
    return reads, assigned


def _functions(table: symtable.SymbolTable, inside: bool = False) -> Iterator:
    """The tables of functions, and of all that is inside of them."""
    for child in table.get_children():
        function = child.get_type() == "function" and child.get_name() not in _AT_ONCE
        if inside or function:
            yield child
        yield from _functions(child, inside or function)
