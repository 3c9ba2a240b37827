"""What the rules judge: the book, with its pages and programs, and how they are read.

A `Book` may be this one, or a small one that a test has written to break it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from book.source.model import Cell, Page
from book.source.parser import read


@dataclass(frozen=True)
class Program:
    """A file of `examples/`; `name` is like "vmap/axes"."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed text."""
        return ast.parse(self.text)


@dataclass(frozen=True)
class Book:
    """The pages and programs below the folder `root`."""

    root: Path

    @cached_property
    def page_names(self) -> list[str]:
        """Every page, whether it is in a toctree or not."""
        docs = self.root / "docs"
        found = (p.relative_to(docs).with_suffix("") for p in docs.rglob("*.md"))
        apart = ("_build", "book", "locale")
        return sorted(p.as_posix() for p in found if p.parts[0] not in apart)

    @cached_property
    def program_names(self) -> list[str]:
        """Every program and every exercise."""
        folder = self.root / "examples"
        found = (p.relative_to(folder).with_suffix("") for p in folder.rglob("*.py"))
        return sorted(p.as_posix() for p in found if p.name != "__init__")

    def page(self, name: str) -> Page:
        """Read the page `name`; raises `Problem` as the build does."""
        path = self.root / "docs" / f"{name}.md"
        return _read(path, name, path.read_bytes())

    def program(self, name: str) -> Program:
        """Read the program `name`."""
        path = self.root / "examples" / f"{name}.py"
        return Program(name, path.read_text(encoding="utf-8"))

    def shown(self, page: Page) -> set[str]:
        """The programs that `page` lists, shows compiled, or imports from in a cell."""
        examples = (self.root / "examples").resolve()
        found = {fence.argument for fence in page.fences if fence.name == "compiled"}
        found |= {
            listing.path.relative_to(examples).with_suffix("").as_posix()
            for listing in page.listings
            if listing.path.is_relative_to(examples)
        }
        return found.union(*(used(cell.source) for cell in page.cells))


@cache
def _read(path: Path, name: str, _text: bytes) -> Page:
    """Read a page once, for as long as its text is the same."""
    return read(path, name)


def used(source: str) -> set[str]:
    """The programs that `source` imports from."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if module.startswith("examples."):
            found.add(module.removeprefix("examples.").replace(".", "/"))
    return found


def at(judged: Page | Program, line: int, sentence: str) -> str:
    """A complaint: file and line of what is judged, and a sentence on it."""
    of_program = isinstance(judged, Program)
    path = f"examples/{judged.name}.py" if of_program else f"docs/{judged.name}.md"
    return f"{path}:{line}: {sentence}."


def visible_cells(page: Page) -> list[Cell]:
    """Return the cells whose code a reader sees as a lesson."""
    return [cell for cell in page.cells if cell.visible]


def words(page: Page) -> int:
    """How many words of prose a page has; inline code counts as one."""
    return word_count("\n".join(line for _, line in page.prose))


def word_count(text: str) -> int:
    """How many words a text has; inline code counts as one."""
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return len(re.findall(r"`[^`]+`|[^\W_][^\s`]*", text))


def comments(source: str, first: int = 1) -> Iterator[tuple[int, str]]:
    """The comments of `source`, whose first line has the number `first`."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0] + first - 1, token.string


def docstrings(program: Program) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring in a program."""
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                yield node.body[0].lineno, text


def called(call: ast.Call) -> str:
    """The name of the function or method that is called."""
    func = call.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name


def calls(source: str) -> list[ast.Call]:
    """All calls in `source`."""
    return [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]
