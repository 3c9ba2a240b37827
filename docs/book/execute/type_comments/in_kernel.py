"""In a page's kernel: cells are rewritten before they run, and what was wrong is told.

`watch` sends the text of this module, and of `types`, and asks.  The names that a check
defines are kept from the lessons here, too.
"""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Iterable

from book.execute.type_comments.parse import Claim, claims, holding, statement


class _Rewrite(ast.NodeTransformer):
    """Puts calls of `__typed__` where a cell's claims are; lines stay as they are."""

    def visit(self, node: ast.AST):
        """Rewrite one node, and what is in it."""
        self.generic_visit(node)
        if not isinstance(node, ast.stmt) or not _here.at:
            return node
        known = _here.at.get((node.lineno, node.col_offset), ())
        made = [node]
        for number, claim in known:
            if claim.names:
                names = [ast.Name(name, ast.Load()) for name in claim.names]
                call = statement(number, ast.Tuple(names, ast.Load()))
                ast.copy_location(call, node)
                doc = ast.get_docstring(node) is not None
                node.body.insert(int(doc), call)
            elif held := holding(node, ast.Constant(number)):
                made = held
        for new in made:
            ast.fix_missing_locations(ast.copy_location(new, node))
        return made


def _shell():
    from IPython import get_ipython

    return get_ipython()


class _Here:
    """What this kernel knows: the cells to come, the claims, the checks' names."""

    def __init__(self) -> None:
        self.cells: list[tuple[int, bool]] = []
        self.claims: list[tuple[int, Claim]] = []
        self.at: dict[tuple[int, int], list[tuple[int, Claim]]] = {}
        self.proofs: dict[str, object] = {}
        self.lessons: dict[str, object] | None = None

    def before(self, info) -> None:
        """A cell is about to run."""
        number, check = self.cells.pop(0) if self.cells else (0, False)
        for claim in claims(info.raw_cell) if number else ():
            self.at.setdefault(claim.at, []).append((len(self.claims), claim))
            self.claims.append((number, claim))
        if check:
            names = _shell().user_ns
            self.lessons = dict(names)
            names.update({k: v for k, v in self.proofs.items() if k not in names})

    def after(self, _result) -> None:
        """A cell has run; what a check has bound is for other checks only."""
        self.at = {}
        if self.lessons is None:
            return
        names, lessons = _shell().user_ns, self.lessons
        self.lessons = None
        for name in {*names, *lessons}:
            own = name.startswith("_") or name in ("In", "Out", "exit", "quit")
            if own or names.get(name, self) is lessons.get(name, self):
                continue
            if name in names:
                self.proofs[name] = names.pop(name)
            if name in lessons:
                names[name] = lessons[name]


_here = _Here()


def _typed(number: int, value: object, *instead: object) -> object:
    _here.claims[number][1].hold(value)
    return instead[0] if instead else value


def begin(cells: Iterable[tuple[int, bool]]) -> None:
    """Look at the cells that will run: the number of each, and if it is a check."""
    shell = _shell()
    _here.cells = list(cells)
    builtins.__typed__ = _typed
    shell.ast_transformers.append(_Rewrite())
    shell.events.register("pre_run_cell", _here.before)
    shell.events.register("post_run_cell", _here.after)


def told(to_the_end: bool) -> str:
    """As JSON: cell, line in it, what is wrong; at the end also what never ran."""
    never = "is a type that nothing verified: the line never ran"
    found = [(n, c.line, c.wrong or never) for n, c in _here.claims
             if c.wrong or (to_the_end and not c.ran)]  # fmt: skip
    return json.dumps(found)
