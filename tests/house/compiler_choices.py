"""What a compiler chose is asserted where that compiler is known.

Compilers of TPUs and GPUs join, split and replace collectives, and hold arrays in other
types and paddings than a CPU's.  A page whose check demands what the CPU's compiler
chose would not build there.  All of them agree whether anything is communicated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from book.source.model import Page
from tests.house.book import at, called

ASKS = frozenset(("sends", "memory_analysis", "cost_analysis"))
PLATFORM = "default_backend"
ROOT = Path(__file__).parents[2]
NOTHING = ("[]", "set()")
SAYS = (
    "`{}` asserts for every hardware what a compiler chose; "
    'put it under `if jax.default_backend() == "cpu":`'
)


def what_a_compiler_chose_is_guarded(page: Page) -> list[str]:
    """A check that need not hold for each compiler asks first which one there is."""
    return [at(page, line, SAYS.format(text)) for line, text in unguarded(page)]


def unguarded(page: Page) -> Iterator[tuple[int, str]]:
    """Yield line and text of each assertion on what some compiler chose.

    To unpack a list of collectives is to assert how many there are.
    """
    trees = [(cell.line, ast.parse(cell.source)) for cell in page.cells]
    nodes = [node for _, tree in trees for node in ast.walk(tree)]
    assigned = [node for node in nodes if isinstance(node, ast.Assign)]
    asked = [_bound(n.targets) for n in assigned if PLATFORM in _names(n.value)]
    guards = {PLATFORM}.union(*asked)
    told = Told(nodes)
    for line, tree in trees:
        bindings = list(_bindings(tree))
        for node in _open(tree.body, guards):
            while bindings and bindings[0][0] <= node.end_lineno:
                told.bind(*bindings.pop(0)[2:])
            if told.claims(getattr(node, "test", node)):
                yield line + node.lineno - 1, ast.unparse(node)
        for _, _, targets, value in bindings:
            told.bind(targets, value)


class Told:
    """The names of a page that hold what a compiler said."""

    def __init__(self, nodes: list[ast.AST]):
        """Learn from all `nodes` which functions ask a compiler."""
        self.asking, self.programs, self.names = set(ASKS), set(), set()
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                self.asking |= _asking_of(node)
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        for _ in range(2):  # one may call another that stands below it
            self.asking |= {one.name for one in functions if self.asks(one)}

    def bind(self, targets: list[ast.expr], value: ast.expr) -> None:
        """Follow a value to the names that it gets."""
        names = _bound(targets)
        compiled = any(called(call) == "compile" for call in _calls(value))
        self.programs = self.programs | names if compiled else self.programs - names
        self.names = self.names | names if self.asks(value) else self.names - names

    def asks(self, node: ast.AST) -> bool:
        """Whether it asks a compiler, or holds what one said."""
        for call in _calls(node):
            of_program = "compile" in ast.unparse(call.func) or (
                _names(call.func) & self.programs
            )
            if called(call) in self.asking or (
                called(call) == "as_text" and of_program
            ):
                return True
        held = (one.id for one in ast.walk(node) if isinstance(one, ast.Name))
        return not self.names.isdisjoint(held)

    def claims(self, test: ast.AST) -> bool:
        """Whether it claims more than that something, or nothing, is communicated."""
        if isinstance(test, ast.Assign):
            [target, *_], value = test.targets, test.value
            parts = getattr(target, "elts", [])
            counted = parts and not any(isinstance(p, ast.Starred) for p in parts)
            return bool(counted) and ast.unparse(value).startswith("sends(")
        if isinstance(test, ast.BoolOp):
            return any(map(self.claims, test.values))
        if isinstance(test, ast.Compare):
            sides = map(ast.unparse, (test.left, *test.comparators))
            if any(side in NOTHING or side.startswith("bool(") for side in sides):
                return False
        bare = isinstance(test, ast.Call) and called(test) in self.asking
        return self.asks(test) and not (bare or isinstance(test, ast.Name))


def _asking_of(node: ast.ImportFrom) -> set[str]:
    """Return the names of what is imported from a program and asks a compiler."""
    path = ROOT.joinpath(*(node.module or "").split(".")).with_suffix(".py")
    if not (node.module or "").startswith("examples.") or not path.is_file():
        return set()
    theirs = Told([*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]).asking
    return {name.asname or name.name for name in node.names if name.name in theirs}


def _open(body: list[ast.stmt], guards: set[str]) -> Iterator[ast.stmt]:
    """Yield the statements that no condition on the platform guards."""
    for node in body:
        if isinstance(node, ast.If) and _names(node.test) & guards:
            continue
        if isinstance(node, ast.Assert | ast.Assign) and not _names(node) & guards:
            yield node
        for part in ("body", "orelse", "finalbody"):
            yield from _open(getattr(node, part, []), guards)


def _bindings(tree: ast.AST) -> list[tuple[int, int, list[ast.expr], ast.expr]]:
    """Return last line, order in it, names and value of all that a cell binds."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            found.append((node.end_lineno, 1, node.targets, node.value))
        elif isinstance(node, ast.For | ast.comprehension):
            found.append((node.target.lineno, 0, [node.target], node.iter))
        elif isinstance(node, ast.NamedExpr | ast.AugAssign):
            found.append((node.end_lineno, 1, [node.target], node.value))
    return sorted(found, key=lambda one: one[:2])


def _calls(node: ast.AST) -> list[ast.Call]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Call)]


def _names(node: ast.AST) -> set[str]:
    found = (n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute))
    return {getattr(n, "id", getattr(n, "attr", "")) for n in found}


def _bound(targets: list[ast.expr]) -> set[str]:
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
