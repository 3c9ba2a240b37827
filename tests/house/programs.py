"""Rules for every program of `examples/`: documented, finished, without the engine."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from book.execute.type_comments.parse import read_type_comments
from tests.house.book import Program, at


def everything_is_documented(program: Program) -> list[str]:
    """Every public name has a docstring."""
    return [at(program, *where) for where in undocumented(program.tree)]


def undocumented(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and complaint for each public name without a docstring."""
    for node, name in documented(tree):
        if not (ast.get_docstring(node) or "").strip():
            yield getattr(node, "lineno", 1), f"{name} has no docstring"


def documented(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """The module, and what is public in it, with their names."""
    yield tree, "the module"
    todo: list[ast.AST] = [tree]
    while todo:
        for node in todo.pop().body:
            known = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if known and not node.name.startswith("_"):
                yield node, f"`{node.name}`"
                todo += [node] if isinstance(node, ast.ClassDef) else []


def no_type_comments(program: Program) -> list[str]:
    """A comment that begins with a type is a claim, and only cells are verified."""
    what = "a comment begins with a type, which nothing verifies in a program"
    return [at(program, claim.line, what) for claim in read_type_comments(program.text)]


def content_imports_pictures_only(program: Program) -> list[str]:
    """Of the engine, programs know at most how to draw."""
    return [
        at(program, node.lineno, f"it imports {node.module} of the engine")
        for node in ast.walk(program.tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[0] == "book"
        and node.module != "book.draw"
    ]


def program_is_written(program: Program) -> list[str]:
    """Nothing is left to be written."""
    lines = enumerate(program.text.splitlines(), 1)
    return [at(program, n, "a TODO is left") for n, line in lines if "TODO" in line]
