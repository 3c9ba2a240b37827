"""A cell or a module as its top-level statements: their text, and what they use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from book.cut.text import Imported, first_line
from book.cut.uses import Uses, uses
from book.cut.words import names, shows
from book.imports import parsed
from book.pages import Cell

PAGE = "the page"
Name = tuple[str, str]  # the page or module, and the name
_BLIND = {"eval", "exec", "globals", "locals"}  # they use names that nobody can see
_ALL = re.compile(r"\bvars\(\)")


class SliceError(Exception):
    """Says what about the code cannot be cut out; `cell` is the one to blame."""

    def __init__(self, reason: str, cell: Cell | None = None):
        super().__init__(reason)
        self.cell = cell


@dataclass(frozen=True, eq=False)
class Statement:
    """A top-level statement of the module called `unit`, or of a cell of the page.

    Of an import, it is the part that imports one name.
    """

    node: ast.stmt
    unit: str
    cell: Cell | None
    comment: str  # the lines above that belong to it
    code: str
    last: bool  # of its cell or module
    uses: Uses
    imported: Imported | None

    @property
    def place(self) -> tuple[str, int]:
        """The module, or the cell of the page, that it stands in."""
        return self.unit, self.cell.number if self.cell else 0

    @property
    def fails(self) -> bool:
        """Whether it is what raises the error that its cell declares."""
        return self.last and self.cell is not None and bool(self.cell.raises)

    @property
    def hidden(self) -> bool:
        """Whether no program has it: it is of a check, or of a cell nobody sees."""
        return self.cell is not None and not self.cell.visible

    @property
    def is_main(self) -> bool:
        """Whether it runs only where a module is the program."""
        is_if = isinstance(self.node, ast.If) and self.unit != PAGE
        return is_if and "__name__" in names(self.node.test)

    @property
    def is_future(self) -> bool:
        """Whether it imports from `__future__`."""
        return self.imported is not None and self.imported.module == "__future__"

    @property
    def asks_for_devices(self) -> bool:
        """Whether it says how many devices to simulate."""
        return self.code.startswith('jax.config.update("jax_num_cpu_devices"')

    def named(self, names: set[str]) -> set[Name]:
        """`names`, as names of this statement's page or module."""
        return {(self.unit, name) for name in names}


@cache
def statements(source: str, unit: str, cell: Cell | None = None) -> list[Statement]:
    """Parse `source` into statements; raises `SliceError`."""
    try:
        tree = parsed(source)
        if "await" in source:  # outside of a function it needs a notebook
            compile(tree, "a cell", "exec", dont_inherit=True)
        return list(_split(source, tree.body, unit, cell))
    except SyntaxError as error:
        raise SliceError(f"is not Python: {error.msg}", cell) from None
    except (RecursionError, MemoryError):
        raise SliceError("is nested too deeply; write a loop", cell) from None


def _split(
    source: str, body: list[ast.stmt], unit: str, cell: Cell | None
) -> Iterator[Statement]:
    lines, above = source.split("\n"), 0
    for node in body:
        start = first = first_line(node)
        while start - 2 >= above and lines[start - 2].startswith("#"):
            start -= 1
        comment = "".join(f"{line}\n" for line in lines[start - 1 : first - 1])
        above = node.end_lineno
        code = "\n".join(lines[first - 1 : above])
        if lines[above - 1].encode()[node.end_col_offset :].strip().startswith(b";"):
            raise SliceError("has a `;`: give each statement a line of its own", cell)
        if cell and cell.visible and code.startswith("os.environ"):
            what = "sets the environment, which JAX reads while it is imported"
            raise SliceError(f"{what}: make the cell `:fresh:`", cell)
        last = node is body[-1]
        if isinstance(node, ast.Import | ast.ImportFrom):
            for one in _imported(node, cell):
                more = "maybe" if one.dotted else "binds"  # `a` may be of `a.c` as well
                found = Uses(**{more: {one.bound}})
                yield Statement(node, unit, cell, comment, code, last, found, one)
        else:
            found = uses(node, code, last and cell is not None and shows(node))
            every = {"vars"} if _ALL.search(code) else set()
            for blind in every | _BLIND & (found.reads | found.later) if cell else ():
                what = f"`{blind}()` hides which names it uses, and no copy would have"
                raise SliceError(f"{what} them; use them by name", cell)
            yield Statement(node, unit, cell, comment, code, last, found, None)


def _imported(node: ast.stmt, cell: Cell | None) -> Iterator[Imported]:
    """Each name that an import binds, and what it imports."""
    for alias in node.names:
        if alias.name == "*":
            text = f"`{ast.unparse(node)}` hides where names come from"
            raise SliceError(f"{text}; name them", cell)
        if isinstance(node, ast.ImportFrom):
            yield Imported(node.module, alias.name, alias.asname)
        else:
            yield Imported(alias.name, None, alias.asname)
