"""The text of a program: imports, settings, statements, and what it shows."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from book.snippets import layout
from book.snippets.imports import Imported, import_statements
from book.snippets.statements import PAGE, SliceError, Statement
from book.snippets.vocabulary import made, sets_devices, shows

if TYPE_CHECKING:
    from book.snippets.lessons import Lessons

ABOVE_DEVICES = """\
# Before JAX is used, else restart Python: a CPU acts as eight devices; GPUs and TPUs
# stay as they are. With fewer than eight GPUs, start Python with JAX_PLATFORMS=cpu."""


class Program:
    """The program that has the statements `kept`, of which `own` are the cell's."""

    def __init__(self, lessons: Lessons, kept: set[Statement], own: list[Statement]):
        self.lessons, self.own = lessons, own
        self.steps = [s for s in lessons.all if s in kept]  # in the order of running
        self.above = [s for s in self.steps if not (s.imported or s in own)]
        self._refuse_two_meanings()

    def text(self, source: str, raises: str | None = None) -> str:
        """The program; its last part is `source`, the text of its own statements.

        Of a cell that `raises`, that part ends in the error.
        """
        own, page = self.own, [s for s in self.above if s.unit == PAGE]
        title = own[:1] if own and _is_title(own[0]) else []
        moved = (s for s in own if s.imported or s in title)
        left = {s.node: "" for s in moved if not s.fails}
        left |= {s.node: _devices([s]) for s in own if sets_devices(s.code)}
        printed = {} if raises else self.last(None)
        body = layout.body(source, own, left | printed)
        if computed := self.computed(source, raises):
            body += f"\n{computed}"
        imported = import_statements(self._imported())
        devices = _devices(s for s in page if sets_devices(s.code))  # before all else
        page = [s for s in page if not sets_devices(s.code)]
        modules = _code(s for s in self.above if s.unit != PAGE)
        parts = [_code(title), imported, devices, modules, _code(page)]
        return layout.joined([*parts, body])

    def computed(self, source: str, raises: str | None) -> str:
        """The line that prints what its last statement computes; "" for none.

        A lesson that ends with `y = f(x)` shows nothing; a copy of it shows `y`.
        """
        own = self.own
        if not own or own[-1].unit != PAGE or "print" in source or raises:
            return ""
        names = made(own[-1].node)
        return f"print({', '.join(names)})" if names else ""

    def above_with_imports(self) -> str:
        """The statements below what they import: a cell of a notebook."""
        blocks = [import_statements(self._imported()), _code(self.above)]
        return layout.joined(blocks).rstrip("\n")

    def last(self, raises: str | None) -> dict[ast.stmt, str]:
        """The last statement as a script goes on below it: printed, or with its error.

        An exercise may have been solved, so its `check` may raise or not.
        """
        if not self.own:
            return {}
        one = self.own[-1]
        if raises and one.cell and one.cell.exercise:
            return {one.node: layout.reported(one.code, one.node)}
        if raises:
            return {one.node: layout.expected(one.code, one.node, raises)}
        if (
            isinstance(one.node, ast.Expr)
            and shows(one.node)
            and not self.lessons.is_quiet(one)
        ):
            return {one.node: layout.printed(one.code, one.node)}
        return {}

    def _refuse_two_meanings(self) -> None:
        known: dict[str, str] = {}
        for one in (s for s in self.steps if not self.lessons.needs.is_ours(s)):
            for name in one.uses.bound:
                meaning = one.imported.means if one.imported else one.unit
                if known.setdefault(name, meaning) != meaning:
                    raise SliceError(
                        f"`{name}` means one thing in {known[name]} and another in "
                        f"{meaning}; give one of them another name"
                    )

    def _imported(self) -> list[Imported]:
        """What it imports from elsewhere."""
        is_ours = self.lessons.needs.is_ours
        found = (s for s in self.steps if not (s.fails or is_ours(s)))
        return [s.imported for s in found if s.imported]


def _code(steps: Iterable[Statement]) -> str:
    return "\n".join(s.comment + s.code for s in steps)


def _devices(steps: Iterable[Statement]) -> str:
    """The lines that ask for devices, below what there is to say of them.

    A page says less, behind such a line, which is too long for a formatter.
    """
    lines = "\n".join(ast.unparse(s.node).replace("'", '"') for s in steps)
    return f"{ABOVE_DEVICES}\n{lines}" if lines else ""


def _is_title(one: Statement) -> bool:
    """Whether it is the text that a module begins with."""
    value = getattr(one.node, "value", None) if one.unit != PAGE else None
    return isinstance(one.node, ast.Expr) and isinstance(value, ast.Constant)
