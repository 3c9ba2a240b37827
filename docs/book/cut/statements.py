"""A cell or a module as its top-level statements: their text, and what they use."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache

from book.cut.uses import uses
from book.cut.walk import Uses
from book.imports import parsed
from book.pages import Cell

PAGE = "the page"
Name = tuple[str, str]  # the page or module, and the name
DEEP = "is nested too deeply; write a loop"
_BLIND = {"eval", "exec", "globals", "locals"}  # they use names that nobody can see
_SUSPECT = re.compile(r"\b(eval|exec|globals|locals|vars|await|async)\b")


class SliceError(Exception):
    """Says what about the code cannot be cut out; `cell` is the one to blame."""

    def __init__(self, reason: str, cell: Cell | None = None):
        super().__init__(reason)
        self.cell = cell


@dataclass(frozen=True, eq=False)
class Statement:
    """A top-level statement of the module called `unit`, or of a cell of the page."""

    node: ast.stmt
    unit: str
    cell: Cell | None
    comment: str  # the lines above that belong to it
    code: str
    uses: Uses
    last: bool  # of its cell or module

    @property
    def fails(self) -> bool:
        """Whether it is what raises the error that its cell declares."""
        return self.last and self.cell is not None and bool(self.cell.raises)

    def named(self, names: set[str]) -> set[Name]:
        """`names`, as names of this statement's page or module."""
        return {(self.unit, name) for name in names}

    @property
    def place(self) -> tuple[str, int]:
        """The module, or the cell of the page, that it stands in."""
        return self.unit, self.cell.number if self.cell else 0

    @property
    def is_import(self) -> bool:
        """Whether it is an import statement."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def hidden(self) -> bool:
        """Whether no program has it: it is of a check, or of a cell nobody sees."""
        return self.cell is not None and not is_lesson(self.cell)


def is_lesson(cell: Cell) -> bool:
    """Whether others may use what the cell defines."""
    return cell.visible and not cell.check and not cell.fresh


def is_future(node: ast.stmt) -> bool:
    """Whether it imports from `__future__`."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


@cache
def statements(source: str, unit: str, cell: Cell | None = None) -> list[Statement]:
    """Parse `source` into statements; raises `SliceError`."""
    try:
        body = parsed(source).body
        if cell is not None:
            _check(source, body)
        return list(_split(source, body, unit, cell))
    except SyntaxError as error:
        raise SliceError(f"is not Python: {error.msg}", cell) from None
    except (RecursionError, MemoryError):
        raise SliceError(DEEP, cell) from None
    except SliceError as error:
        raise SliceError(f"{error}", cell) from None


def _split(source: str, body: list[ast.stmt], unit: str, cell: Cell | None):
    lines, above = source.split("\n"), 0
    postponed = any(map(is_future, body))
    for node, below in zip(body, [*body, None][1:], strict=True):
        first = min(n.lineno for n in (node, *getattr(node, "decorator_list", ())))
        shared = first <= above or (below and below.lineno <= node.end_lineno)
        if shared:  # a = 1; b = 2
            comment, code = "", ast.get_source_segment(source, node)
        else:
            start = first
            while start - 2 >= above and lines[start - 2].startswith("#"):
                start -= 1
            comment = "".join(f"{line}\n" for line in lines[start - 1 : first - 1])
            code = "\n".join(lines[first - 1 : node.end_lineno])
        above = node.end_lineno
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            text = ast.unparse(node)
            raise SliceError(f"`{text}` hides where names come from; name them")
        found = uses(node, code, postponed)
        yield Statement(node, unit, cell, comment, code, found, below is None)


def _check(source: str, body: list[ast.stmt]) -> None:
    """Refuse what uses names so that nobody can see which, or needs a notebook."""
    if not _SUSPECT.search(source):
        return
    for node in (n for statement in body for n in ast.walk(statement)):
        function = getattr(node, "func", None)
        name = getattr(function, "id", None)
        if name in _BLIND or (name == "vars" and not node.args):
            what = f"`{name}()` hides which names it uses, and no copy would have them"
            raise SliceError(f"{what}; use them by name")
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
            raise SliceError(
                "`await` outside of a function runs in notebooks only; "
                "use `asyncio.run(…)`"
            )
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)
