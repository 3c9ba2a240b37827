"""The part in a page's kernel: cells are rewritten so that they compare types.

`client` sends the text of this module, and of `parse`, and asks for what was `found`.
It also keeps the names that a check defines from the lessons.
"""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from book.execute.type_comments.parse import (
    TypeComment,
    comparing_call,
    has_value,
    read_type_comments,
)

if TYPE_CHECKING:
    from IPython.core.interactiveshell import (
        ExecutionInfo,
        ExecutionResult,
        InteractiveShell,
    )


class _Rewrite(ast.NodeTransformer):
    """Puts calls of `__typed__` where type comments are; lines stay as they are."""

    def visit(self, node: ast.AST) -> ast.AST:
        """Rewrite one node, and what is in it."""
        self.generic_visit(node)
        if not isinstance(node, ast.stmt):
            return node
        place = node.lineno, node.col_offset
        for number, comment in _state.of_this_cell.get(place, ()):
            if comment.parameters and isinstance(node, ast.FunctionDef):
                names: list[ast.expr] = [
                    ast.Name(name, ast.Load()) for name in comment.parameters
                ]
                call = comparing_call(number, ast.Tuple(names, ast.Load()))
                has_docstring = ast.get_docstring(node) is not None
                body = ast.copy_location(ast.Expr(call), node)
                node.body.insert(1 if has_docstring else 0, body)
            elif has_value(node):
                node.value = comparing_call(number, node.value)  # type: ignore[attr-defined]
            ast.fix_missing_locations(node)
        return node


def _shell() -> InteractiveShell:
    from IPython import get_ipython

    return get_ipython()


class _State:
    """What this kernel knows.

    `cells` are those that will run: number, and whether it is a check.  `comments` are
    the type comments of those that have, with the number of the cell; `of_this_cell`
    those of the cell that runs, with their index, by the place of the statement.
    `defined_by_checks` are names and values; `lessons` the names of the lessons while a
    check runs.
    """

    def __init__(self) -> None:
        self.cells: list[tuple[int, bool]] = []
        self.comments: list[tuple[int, TypeComment]] = []
        self.of_this_cell: dict[tuple[int, int], list[tuple[int, TypeComment]]] = {}
        self.defined_by_checks: dict[str, object] = {}
        self.lessons: dict[str, object] | None = None

    def before_cell(self, info: ExecutionInfo) -> None:
        """Note the cell's type comments; a check sees what other checks defined."""
        if not self.cells:
            return
        number, is_check = self.cells.pop(0)
        for comment in read_type_comments(info.raw_cell):
            found = self.of_this_cell.setdefault(comment.place, [])
            found.append((len(self.comments), comment))
            self.comments.append((number, comment))
        if is_check:
            names = _shell().user_ns
            self.lessons = dict(names)
            for name, value in self.defined_by_checks.items():
                names.setdefault(name, value)

    def after_cell(self, _result: ExecutionResult) -> None:
        """Give the lessons their names back; what a check has bound is for checks."""
        self.of_this_cell = {}
        if self.lessons is None:
            return
        names, lessons = _shell().user_ns, self.lessons
        self.lessons = None
        missing = object()
        for name in {*names, *lessons}:
            if name.startswith("_") or name in ("In", "Out", "exit", "quit"):
                continue  # IPython's own
            if names.get(name, missing) is lessons.get(name, missing):
                continue
            if name in names:
                self.defined_by_checks[name] = names.pop(name)
            if name in lessons:
                names[name] = lessons[name]


_state = _State()


def _typed(number: int, value: object) -> object:
    """Compare `value` with the comment `number`, and return it."""
    _state.comments[number][1].compare(value)
    return value


def begin(cells: Iterable[tuple[int, bool]]) -> None:
    """Look at the cells that will run: the number of each, and if it is a check."""
    shell = _shell()
    _state.cells = list(cells)
    setattr(builtins, "__typed__", _typed)  # noqa: B010 - no such name for a type checker
    shell.ast_transformers.append(_Rewrite())
    shell.events.register("pre_run_cell", _state.before_cell)
    shell.events.register("post_run_cell", _state.after_cell)


def found(to_the_end: bool) -> str:
    """What is wrong, as JSON: [[cell, line in it, reason], …].

    At the end of a page, a line that never ran is wrong, too.
    """
    wrong = []
    for number, comment in _state.comments:
        if comment.wrong:
            wrong.append((number, comment.line, comment.wrong))
        elif to_the_end and not comment.ran:
            reason = "is a type that nothing verified: the line never ran"
            wrong.append((number, comment.line, reason))
    return json.dumps(wrong)
