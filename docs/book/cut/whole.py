"""A program as a whole: imports, settings, statements, and what it shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from book.cut import text as layout
from book.cut.rule import PYTHON
from book.cut.statements import PAGE, SliceError, Statement
from book.cut.text import Imported
from book.cut.words import made, shows

if TYPE_CHECKING:
    from book.cut.lessons import Lessons

DEVICE_LINES = (
    'jax.config.update("jax_platforms", "cpu")  # these two lines simulate devices;\n'
    'jax.config.update("jax_num_cpu_devices", 8)  # where you have eight, drop both'
)
_DEVICES = re.compile(r"mesh|device|pmap|shard", re.IGNORECASE)


class Whole:
    """The program that has the statements `kept`, of which `own` are the cell's."""

    def __init__(self, lessons: Lessons, kept: set[Statement], own: list[Statement]):
        self.lessons, self.own = lessons, own
        self.steps = [s for s in lessons.all if s in kept]  # in the order of running
        self.above = [s for s in self.steps if s not in own]
        self._refuse_two_meanings()

    def text(self, source: str, raises: str | None = None) -> str:
        """The program; its last part is `source`, the text of its own statements."""
        own, page = self.own, [s for s in self.above if s.unit == PAGE]
        title = own[:1] if own and _is_title(own[0]) else []
        state = [*takewhile(_sets_jax, (s for s in (*page, *own) if not s.imported))]
        stays = own[-1].node if own and raises else None  # an import that raises
        moved = (s for s in own if s.imported or s in (*state, *title))
        replaced = {s.node: "" for s in moved if s.node is not stays}
        body = layout.body(source, own, replaced | self.last(raises))
        if own and own[-1].unit == PAGE and "print" not in source and not raises:
            names = made(own[-1].node)
            body += f"\nprint({', '.join(names)})" * bool(names)
        imported = self._imported(s for s in self.steps if s.node is not stays)
        head = [s.comment + s.code for s in state]
        if self._needs_devices(source):
            head.insert(0, DEVICE_LINES)
            imported.append(Imported("jax", None, None))
        modules = self._code(s for s in self.above if s.unit != PAGE)
        above = self._code(s for s in (*page, *own) if s not in state)
        blocks = [*(s.code for s in title), layout.imports(imported), "\n".join(head)]
        return layout.joined([*blocks, modules, above, body])

    def alone(self) -> str:
        """The statements alone, below what they import: a cell of a notebook."""
        imports = layout.imports(self._imported(self.steps))
        return layout.joined([imports, self._code(self.steps)]).rstrip("\n")

    def _needs_devices(self, source: str) -> bool:
        """Whether it speaks of devices, and no line of it asks for them."""
        code = [source, *(s.code for s in self.above)]
        asked = any(s.asks_for_devices for s in self.steps)
        return self.lessons.devices and not asked and any(map(_DEVICES.search, code))

    def _code(self, steps: Iterable[Statement]) -> str:
        """What stands above the cell: statements, and other names for what they are."""
        lines: list[str] = []
        for one in steps:
            if one.imported:  # also of the cell itself
                lines += self.renamed(one)
            elif one not in self.own:
                lines.append(one.comment + one.code)
        return "\n".join(lines)

    def renamed(self, one: Statement) -> list[str]:
        """The other name that an import gives to what it takes from a module."""
        name = one.imported.bound
        _, there = self.lessons.links.get((one.unit, name), ("", name))
        return [f"{name} = {there}"] * (one in self.steps and name != there)

    def last(self, raises: str | None) -> dict[ast.stmt, str]:
        """The last statement as a program needs it: printed, or with its error."""
        if not self.own:
            return {}
        one = self.own[-1]
        if raises:
            return {one.node: layout.expected(one.code, one.node, raises)}
        if shows(one.node) and not self.lessons.is_quiet(one):
            return {one.node: layout.printed(one.code, one.node)}
        return {}

    # -- names -----------------------------------------------------------------
    def _meanings(self) -> Iterator[tuple[str, str]]:
        """Each name of the program, and what it stands for."""
        bound, links = self.lessons.bound, self.lessons.links
        for one in self.steps:
            if not one.imported:
                yield from ((name, one.unit) for name in one.uses.bound)
                pythons = (one.uses.reads | one.uses.later) & PYTHON
                own = {name for name in pythons if (one.unit, name) in bound}
                yield from ((name, "Python") for name in pythons - own)
                continue
            name = one.imported.bound
            unit, there = links.get((one.unit, name), (None, ""))
            if not unit:
                yield name, one.imported.means
            elif there != name:
                yield name, f"{unit} as {there}"

    def _refuse_two_meanings(self) -> None:
        known: dict[str, str] = {}
        for name, meaning in self._meanings():
            if known.setdefault(name, meaning) != meaning:
                raise SliceError(
                    f"`{name}` means one thing in {known[name]} and another in "
                    f"{meaning}; give one of them another name"
                )

    def _imported(self, steps: Iterable[Statement]) -> list[Imported]:
        """What `steps` import from elsewhere; of `import a.b`, what the code speaks."""
        found: dict[tuple[str, str], Imported] = {}
        for s in steps:
            if s.imported and (s.unit, s.imported.bound) not in self.lessons.links:
                one = s.imported
                found.setdefault((one.bound, one.dotted or one.means), one)
        code = "\n".join(s.code for s in self.steps if not s.imported)
        return [one for one in found.values() if one.dotted in code]


def _sets_jax(one: Statement) -> bool:
    """Whether it sets JAX up, which a program does first."""
    return one.code.startswith("jax.config.update(")


def _is_title(one: Statement) -> bool:
    """Whether it is the text that a module begins with."""
    value = getattr(one.node, "value", None) if one.unit != PAGE else None
    return isinstance(one.node, ast.Expr) and isinstance(value, ast.Constant)
