"""What a function, a class or a comprehension calls its own, and what it gives away."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from book.cut.syntax import (
    COMPREHENSIONS,
    FUNCTIONS,
    TRANSFORMS,
    WRAPS,
    arguments,
    bound_by,
    called,
    own_nodes,
    targets,
)

# What makes something new, that nothing else has a name for.
_MAKES = (ast.List, ast.Dict, ast.Set, ast.Tuple, ast.Constant, ast.JoinedStr)
_MAKES += (*COMPREHENSIONS, ast.BinOp, ast.Compare)
_MAKERS = frozenset(
    "arange array copy Counter custom_jvp custom_vjp custom_vmap defaultdict deque "
    "dict empty empty_like fromkeys full full_like list ones ones_like set sorted "
    "zeros zeros_like".split()
)


def parameters(function: ast.AST) -> list[ast.arg]:
    """All parameters of a function, in order."""
    given = function.args
    extra = [a for a in (given.vararg, given.kwarg) if a]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *extra]


class Scope:
    """A function, a class or a comprehension: which names are its own.

    `made` are those that stand for nothing but what a function makes itself.  It
    "gives" when it returns functions, and "keeps" a state when it yields, or returns a
    function that changes one of its names.
    """

    def __init__(self, node: ast.AST):
        self.node = node
        self.names: set[str] = set()
        self.declared: set[str] = set()
        self.made: set[str] = set()
        self.given: set[str] = set()
        self.returns: set[str] = set()
        self.kinds: set[str] = set()
        if isinstance(node, COMPREHENSIONS):
            self.names = targets(*(g.target for g in node.generators))
        elif isinstance(node, FUNCTIONS):
            self._function(node)

    def _function(self, node: ast.AST) -> None:
        self.given = other = {a.arg for a in parameters(node)}
        other = set(other)
        inner: set[str] = set()
        returned = [node.body] if isinstance(node, ast.Lambda) else []
        for part in own_nodes(node):
            match part:
                case ast.Global() | ast.Nonlocal():
                    self.declared |= set(part.names)
                case ast.Assign():
                    makes = isinstance(part.value, ast.Call) and (
                        not part.value.args or called(part.value) in _MAKERS
                    )
                    makes = makes or isinstance(part.value, _MAKES)
                    (self.made if makes else other).update(targets(*part.targets))
                case ast.For() | ast.NamedExpr():
                    other |= targets(part.target)
                case ast.withitem():
                    other |= targets(part.optional_vars)
                case ast.FunctionDef():
                    inner.add(part.name)
                case ast.Return(value=ast.expr()):
                    returned.append(part.value)
                case ast.Yield() | ast.YieldFrom():
                    self.kinds.add("keeps")
            self.names |= set(bound_by(part))
        self.names = (self.names | other) - self.declared
        self.made -= other
        values = [part for value in returned for part in _kept(value)]
        self.returns = {v.id for v in values if isinstance(v, ast.Name)} - self.names
        if any(isinstance(v, ast.Lambda | ast.Call) for v in values) or any(
            getattr(v, "id", None) in inner for v in values
        ):
            self.kinds.add("gives")


def _kept(value: ast.expr) -> Iterator[ast.AST]:
    """The names, lambdas and wrapped functions that may live on in a value."""
    todo: list[ast.AST] = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name | ast.Lambda):
            yield node
        elif isinstance(node, ast.Call):
            if called(node) in WRAPS:
                yield node
            if called(node.func) not in TRANSFORMS:  # whose calls give arrays
                todo.append(getattr(node.func, "value", node.func))
            todo += arguments(node)
        elif not isinstance(node, ast.Compare | ast.BinOp | ast.JoinedStr):
            todo += ast.iter_child_nodes(node)
