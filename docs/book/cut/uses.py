"""Which names a top-level statement defines and uses, and which it visibly changes.

What a function reads, it reads later, when it is called: `symtable` says what that is.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

from book.cut.walk import Uses, walk
from book.cut.words import BLOCKS, CHANGING, changed

_EAGER = {"listcomp", "setcomp", "dictcomp"}


def uses(node: ast.stmt, code: str, postponed: bool = False) -> Uses:
    """What a top-level statement, written `code`, does with names.

    Annotations are `postponed` by `from __future__ import annotations`.
    """
    found, bodies = walk(node, postponed)
    if isinstance(node, (*BLOCKS, ast.With)):
        found.maybe |= found.binds
    found.binds -= found.maybe
    found.later |= found.reads & found.maybe
    found.reads -= found.maybe
    if bodies:
        for table in _tables(symtable.symtable(code, "a cell", "exec")):
            # (Of a function called "top", `is_global` says what is wrong.)
            outer = [s for s in table.get_symbols() if s.is_global()]
            outer = [s for s in outer if not (s.is_local() or s.is_parameter())]
            found.later |= {s.get_name() for s in outer}
            found.changes_later |= {s.get_name() for s in outer if s.is_assigned()}
        for part in (inner for body in bodies for inner in ast.walk(body)):
            if isinstance(part, CHANGING):
                found.changes_later |= changed(part) & found.later
    return found


def _tables(table: symtable.SymbolTable, inside: bool = False) -> Iterator:
    """The tables of functions, and of all that is inside of them."""
    for child in table.get_children():
        function = child.get_type() == "function" and child.get_name() not in _EAGER
        if inside or function:
            yield child
        yield from _tables(child, inside or function)
