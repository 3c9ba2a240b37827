"""A cell or a module as its top-level statements: their text, and what they use."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from book.snippets.imports import Imported
from book.snippets.layout import first_line, last_line
from book.snippets.names import Uses, uses
from book.snippets.vocabulary import sets_environment, shows
from book.source.dependencies import parse
from book.source.model import Cell

PAGE = "the page"
PYTHON = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
Name = tuple[str, str]  # the page or module, and the name
_BLIND = {"eval", "exec", "globals", "locals", "vars"}  # nobody can see what they use
_UNSEEN = "and no copy would have them; use them by name"
# The module that a cell, or a copy of it, is: `__main__`, `sys.modules[__name__]`.
_MODULE_ITSELF = re.compile(r"\b__main__\b|\bmodules\[__name__\]")
_IS_MAIN = re.compile(r"""__name__ == (["'])__main__\1""")


class SliceError(Exception):
    """Says why there is no program of the code; `cell` is the one to blame."""

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
    imported: Imported | None = None

    @property
    def place(self) -> tuple[str, int]:
        """The module, or the cell of the page, that it stands in."""
        return self.unit, self.number

    @property
    def fails(self) -> bool:
        """Whether it is what raises the error that its cell declares."""
        return self.last and self.cell is not None and bool(self.cell.raises)

    @property
    def number(self) -> int:
        """The number of its cell; 0 in a module."""
        return self.cell.number if self.cell else 0

    @property
    def hidden(self) -> bool:
        """Whether no program has it: it is of a check, or of a cell nobody sees."""
        return self.cell is not None and not self.cell.visible

    @property
    def is_main(self) -> bool:
        """Whether it runs only where a module is the program."""
        return self.unit != PAGE and self.code.startswith("if __name__ ==")


@cache
def statements(source: str, unit: str, cell: Cell | None = None) -> list[Statement]:
    """Parse `source` into statements; raises `SliceError`."""
    try:
        tree = parse(source)
        if "await" in source or "async" in source:
            # Outside of a function they need a notebook.
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
        above, last = last_line(node), node is body[-1]
        code = "\n".join(lines[first - 1 : above])
        if lines[above - 1].encode()[node.end_col_offset :].strip().startswith(b";"):
            raise SliceError("has a `;`: give each statement a line of its own", cell)
        if isinstance(node, ast.Import | ast.ImportFrom):
            for one in _imported(node, cell):
                yield Statement(node, unit, cell, comment, code, last, *one)
        else:
            found = uses(node, last and cell is not None and shows(node))
            if cell is None or cell.visible:
                _refuse(code, found, cell)
            yield Statement(node, unit, cell, comment, code, last, found)


def _refuse(code: str, found: Uses, cell: Cell | None) -> None:
    """Refuse what no program could do as its cell, or a module, does it."""
    if cell and _MODULE_ITSELF.search(_IS_MAIN.sub("", code)):
        raise SliceError(f"binds names of its own module, {_UNSEEN}", cell)
    if cell and sets_environment(code):
        what = "sets the environment, which JAX reads while it is imported"
        raise SliceError(f"{what}: make the cell `:fresh:`", cell)
    for blind in _BLIND & (found.reads | found.later) if cell else ():
        raise SliceError(f"`{blind}()` hides which names it uses, {_UNSEEN}", cell)
    for name in sorted(found.bound & PYTHON):
        raise SliceError(f"binds `{name}`, which is Python's own; rename it", cell)


def _imported(
    node: ast.Import | ast.ImportFrom, cell: Cell | None
) -> Iterator[tuple[Uses, Imported]]:
    """Each name that an import binds, and what it imports."""
    for alias in node.names:
        text = f"`{ast.unparse(node)}`"
        if alias.name == "*":
            raise SliceError(f"{text} hides where names come from; name them", cell)
        if "__main__" in (alias.name, getattr(node, "module", None)):
            raise SliceError(f"{text} hides which names it uses, {_UNSEEN}", cell)
        if getattr(node, "module", None) == "__future__":
            raise SliceError(f"{text} changes what code means; leave it out", cell)
        found = Uses()
        if isinstance(node, ast.ImportFrom):
            one = Imported(node.module or "", alias.name, alias.asname)
        else:
            one = Imported(alias.name, None, alias.asname)
        # `import a.b` binds `a`, which may have parts from other imports as well.
        (found.binds if one.name or one.alias else found.maybe).add(one.bound)
        yield found, one
