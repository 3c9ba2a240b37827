"""Which names a top-level statement defines and uses, and which it visibly changes.

What a function reads, it reads later, when it is called: `symtable` says what that is.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

DEFS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.TryStar, ast.Match)
_CHANGING = (ast.Attribute, ast.Subscript, ast.AugAssign, ast.Expr)
_EAGER = {"listcomp", "setcomp", "dictcomp"}
# Calls that say all they do; calls that return nothing, so that a notebook shows
# nothing; how the names of those begin that set a state which no name holds.
_HARMLESS = ("assert", "block_until_ready", "callback", "display", "print", "sleep")
_HARMLESS += ("get", "items", "keys", "values")
_SILENT = frozenset(
    "add append appendleft clear def_vmap defjvp defjvps defvjp discard extend fill "
    "insert register remove reverse sort update".split()
)
_SETS = ("clear_", "disable_", "enable_", "filterwarnings", "reset_", "seed", "set_")
_SETS += ("chdir", "initialize", "setrecursionlimit", "simplefilter", "update")


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

    @property
    def bound(self) -> set[str]:
        """All names that it may bind."""
        return self.binds | self.maybe


def root(node: ast.AST) -> str:
    """The name that `a.b[0].c` starts from; "" where it starts at none."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def called(call: ast.Call) -> str:
    """The last name of what is called: `jax.config.update(…)` -> "update"."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def shows(node: ast.stmt) -> bool:
    """Whether a notebook may display it: a value that is not there for its effect."""
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        return False
    name = called(node.value) if isinstance(node.value, ast.Call) else ""
    silent = name.startswith(("assert", "display", "print", "sleep", *_SETS))
    return not (silent or (name in _SILENT and isinstance(node.value.func, ast.Attribute)))


def uses(node: ast.stmt, code: str, postponed: bool = False) -> Uses:
    """What a top-level statement, written `code`, does with names.

    Annotations are `postponed` by `from __future__ import annotations`.
    """
    walk = _Walk(node, postponed)
    walk.visit(node)
    found = walk.found
    if isinstance(node, (*_BLOCKS, ast.With)):
        found.maybe |= found.binds
    found.binds -= found.maybe
    found.breaks -= walk.plain
    found.later |= found.reads & found.maybe
    found.reads -= found.maybe
    if walk.bodies:
        for table in _tables(symtable.symtable(code, "a cell", "exec")):
            # (Of a function called "top", `is_global` says what is wrong.)
            outer = [s for s in table.get_symbols() if s.is_global()]
            outer = [s for s in outer if not (s.is_local() or s.is_parameter())]
            found.later |= {s.get_name() for s in outer}
            found.changes_later |= {s.get_name() for s in outer if s.is_assigned()}
        for part in (inner for body in walk.bodies for inner in ast.walk(body)):
            if isinstance(part, _CHANGING):
                found.changes_later |= _changed(part) & found.later
    return found


def _tables(table: symtable.SymbolTable, inside: bool = False) -> Iterator:
    """The tables of functions, and of all that is inside of them."""
    for child in table.get_children():
        function = child.get_type() == "function" and child.get_name() not in _EAGER
        if inside or function:
            yield child
        yield from _tables(child, inside or function)


def _changed(node: ast.AST) -> set[str]:
    """The name that a node, its children apart, changes in place."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return set() if isinstance(node.ctx, ast.Load) else {root(node)}
    if isinstance(node, ast.AugAssign):
        return {root(node.target)}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return set() if called(node.value).startswith(_HARMLESS) else {root(node.value)}
    return set()


class _Walk(ast.NodeVisitor):
    """Walks what runs with one statement; `bodies` of functions run later.

    `local` are the names of the comprehensions and classes that have been entered.
    """

    def __init__(self, node: ast.stmt, postponed: bool) -> None:
        self.postponed, self.assigns = postponed, isinstance(node, ast.Assign)
        self.known: set[str] = set()  # bound by now, for sure
        self.found = Uses(calls=isinstance(node, _BLOCKS))
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
        if isinstance(node, _CHANGING):
            changed = _changed(node) - self.local
            self.found.changes |= changed
            self.found.breaks |= set() if isinstance(node, ast.Expr) else changed
        super().visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        pass

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)
        elif node.id not in self.known | self.local:
            self.found.reads.add(node.id)

    def _block(self, node: ast.stmt) -> None:
        before = self.known
        self.known = set(before)
        for part in ("test", "subject", "iter", "target"):
            self._all(getattr(node, part, None))
        above = self.known
        for branch in ("body", "handlers", "orelse", "finalbody", "cases"):
            self.known = set(above)
            self._all(*getattr(node, branch, ()))
        self.known = before

    visit_If = visit_For = visit_While = visit_Try = visit_TryStar = visit_Match = _block

    def visit_Expr(self, node: ast.Expr) -> None:
        self.visit(node.value)
        call = node.value
        if not isinstance(call, ast.Call) or called(call).startswith(_HARMLESS):
            return
        if called(call).startswith(_SETS):
            self.found.sets.add(root(call))
        method = isinstance(call.func, ast.Attribute)
        if method and called(call) in _SILENT:
            self.found.breaks.add(root(call.func))
        given = [n for part in (*call.args, *call.keywords) for n in ast.walk(part)]
        self.found.given |= {n.id for n in given if isinstance(n, ast.Name)}

    def visit_Call(self, node: ast.Call) -> None:
        harmless = called(node).startswith(_HARMLESS)
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
        self.found.breaks |= {root(d) for d in rules if d.attr in _SILENT}
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
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler):
            self._bind(node.name)
        elif isinstance(node, ast.MatchMapping):
            self._bind(node.rest)
