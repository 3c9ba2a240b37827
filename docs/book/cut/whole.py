"""A program as a whole: imports, settings, statements, and what it shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from book.cut import text as layout
from book.cut.kinds import (
    PYTHON,
    imports_of,
    inner_imports,
    is_device_line,
    is_docstring,
    is_environment,
    is_inert,
    is_silent,
    paths,
    sets_environment,
)
from book.cut.statements import PAGE, Name, SliceError, Statement
from book.cut.text import Imported, Part
from book.cut.words import made, shows

if TYPE_CHECKING:
    from book.cut.lessons import Lessons

Kept = dict[Statement, set[Name]]  # and the names that are wanted of an import
DEVICE_LINES = (
    'jax.config.update("jax_platforms", "cpu")  # these two lines simulate devices;\n'
    'jax.config.update("jax_num_cpu_devices", 8)  # where you have eight, drop both'
)
_DEVICES = re.compile(r"mesh|device|pmap|shard", re.IGNORECASE)


class Whole:
    """The program that has the statements `kept`, of which `own` are the cell's."""

    def __init__(self, lessons: Lessons, kept: Kept, own: list[Statement]):
        self.lessons, self.kept, self.own = lessons, kept, own
        self.steps = [s for s in lessons.all if s in kept]  # in the order of running
        self.above = [s for s in self.steps if s not in own]
        self.owners: dict[str, str] = {}

    def text(self, source: str, raises: str | None = None) -> str:
        """The program; its last part is `source`, the text of its own statements."""
        self._claim_all()
        own, replaced = self.own, self.last(source, raises)
        inline = self._inline(raises)
        replaced |= {s.node: "" for s in own if s.is_import and s not in inline}
        above = [s for s in self.above if s.unit == PAGE]
        ends = [number for number, s in enumerate(above, 1) if is_environment(s)]
        early, above = above[: max(ends, default=0)], above[max(ends, default=0) :]
        modules = [s for s in self.above if s.unit != PAGE]
        state = self._state([*above, *own], modules)
        replaced |= {s.node: "" for s in own if s in state}
        body = layout.body(source, [s.node for s in own], replaced)
        if own and own[-1].unit == PAGE and "print" not in source and not raises:
            names = made(own[-1].node)
            body += [Part(f"print({', '.join(names)})")] * bool(names)
        before = self._imported(early)
        others = [s for s in (*above, *modules, *own) if s not in inline]
        imported = [one for one in self._imported(others) if one not in before]
        head = [Part(s.comment + s.code) for s in state]
        if self._needs_devices(source):
            head.insert(0, Part(DEVICE_LINES))
            imported.append(Imported("jax", None, None))
            self._claim("jax", "jax")
        documented = bool(own) and own[0].unit != PAGE and is_docstring(own[0])
        first = [body.pop(0)] if documented else []
        blocks = [[one] for one in layout.imports(before)]
        blocks += [self._parts(early), *([one] for one in layout.imports(imported))]
        rest = self._parts(s for s in (*above, *own) if s not in state)
        return layout.joined([first, *blocks, head, self._parts(modules), rest, body])

    def alone(self) -> str:
        """The statements alone, below what they import: a cell of a notebook."""
        self._claim_all()
        blocks = [[one] for one in layout.imports(self._imported(self.steps))]
        return layout.joined([*blocks, self._parts(self.steps)]).rstrip("\n")

    def _inline(self, raises: str | None) -> list[Statement]:
        """The imports of the cell that stay where they are, such as what raises."""
        early = self.own if sets_environment(self.own) else self.own[-1:] * bool(raises)
        links = self.lessons.links.keys()
        return [s for s in early if s.is_import and not s.named(s.uses.binds) & links]

    def _needs_devices(self, source: str) -> bool:
        """Whether it speaks of devices, and no line of it asks for them."""
        code = [source, *(s.code for s in self.above)]
        asked = any(map(is_device_line, self.steps)) or any(
            is_environment(s) and "device" in s.code.lower() for s in self.steps
        )
        speaks = any(map(_DEVICES.search, code))
        return self.lessons.devices and speaks and not asked

    def _parts(self, kept: Iterable[Statement]) -> list[Part]:
        """What stands above the cell: statements, and other names for what they are."""
        texts = []
        for statement in kept:
            if statement.is_import:  # also of the cell itself
                texts += self.renamed(statement)
            elif statement not in self.own:
                texts.append(statement.comment + statement.code)
        return [Part(text) for text in texts]

    def renamed(self, statement: Statement) -> list[str]:
        """Other names that an import gives to what it takes from a module."""
        renamed = self._renamed([statement])
        return [f"{name[1]} = {link[1]}" for name, link in renamed]

    def last(self, source: str, raises: str | None) -> dict[ast.stmt, str]:
        """The last statement as a program needs it: printed, or with its error."""
        if not self.own:
            return {}
        node = self.own[-1].node
        if raises:
            return {node: layout.expected(self.own[-1].code, node, raises)}
        code = ast.get_source_segment(source, node)
        end = source.split("\n")[node.end_lineno - 1].encode()[node.end_col_offset :]
        quiet = end.strip().startswith(b";")
        if shows(node) and not quiet and not is_silent(self.own[-1], self.lessons):
            return {node: layout.printed(code, node.value)}
        return {}

    # -- names -----------------------------------------------------------------
    def _claim_all(self) -> None:
        """Make sure that no name means two things in the program."""
        for statement in self.steps:
            used = statement.uses
            for inner in inner_imports(statement):
                if self.lessons.local(inner):
                    raise SliceError(f"move `{ast.unparse(inner)}` to the top level")
            if not statement.is_import:
                for name in used.bound:
                    self._claim(name, statement.unit)
            for name in (used.reads | used.later) & PYTHON:
                if (statement.unit, name) not in self.lessons.first:
                    self._claim(name, "Python")
        for name, link in self._renamed(self.steps):
            self._claim(name[1], f"{link[0]} as {link[1]}")
        for one in self._imported(self.steps):
            self._claim(one.bound, one.means)

    def _claim(self, name: str, owner: str) -> None:
        if self.owners.setdefault(name, owner) != owner:
            raise SliceError(
                f"`{name}` means one thing in {self.owners[name]} and another in "
                f"{owner}; give one of them another name"
            )

    def _renamed(self, kept: list[Statement]) -> list[tuple[Name, Name]]:
        """Names of modules that the page, or another module, calls by other names."""
        links = self.lessons.links
        names = {name for s in kept for name in self.kept[s] if name in links}
        found = [(name, links[name]) for name in sorted(names)]
        return [(name, link) for name, link in found if name[1] != link[1]]

    def _imported(self, kept: list[Statement]) -> list[Imported]:
        """What `kept` statements import from elsewhere, so far as it is wanted."""
        found: dict[tuple[str, str], Imported] = {}
        for statement in kept:
            for name, one in imports_of(statement) if statement.is_import else ():
                wanted = name in self.kept[statement]
                if wanted and name not in self.lessons.links:
                    key = one.module if one.means == one.bound else one.means
                    found.setdefault((one.bound, key), one)
        whole = [one for one in found.values() if not (one.name or one.alias)]
        if all("." not in one.module for one in whole):
            return list(found.values())
        used = {path for s in self.kept for path in paths(s.node)}
        idle = [one for one in whole if one.module not in used and "." in one.module]
        known = {one.bound for one in whole if one not in idle}
        return [o for o in found.values() if o not in idle or o.bound not in known]

    def _state(self, steps: list[Statement], modules: list[Statement]):
        """The settings of JAX that come first, where they can stand above modules."""
        found, inert = [], all(map(is_inert, modules))
        for statement in steps:
            sets = inert and statement.code.startswith("jax.config.update(")
            if sets or is_device_line(statement):
                found.append(statement)
            elif not statement.is_import:
                break
        return found
