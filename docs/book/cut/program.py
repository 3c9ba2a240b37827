"""The program that one cell, or one listing, is: itself and exactly what it needs.

Statements are kept or left whole.  What a cell takes from `examples/` is written out,
so the program needs nothing but the packages that it imports.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from book.cut import text as layout
from book.cut.changes import Changes, Name, Statement
from book.cut.modules import Modules, SliceError, is_future, is_import, statements
from book.cut.syntax import own_nodes, shows, spreads
from book.cut.text import Imported, Part
from book.pages import Cell, Listing, Page, Problem

__all__ = ["DEVICE_LINE", "SliceError", "Slicer", "programs"]

DEVICE_LINE = 'jax.config.update("jax_num_cpu_devices", 8)'
PAGE = "the page"
_PYTHON = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


class Slicer:
    """Cuts programs; `roots` are the folders whose modules are written out."""

    def __init__(self, roots: tuple[Path, ...]):
        self._modules = Modules(roots)

    def cell(self, above: list[str], source: str, raises: str | None = None) -> str:
        """The program of the cell `source`, which follows the cells `above`.

        It prints what the cell shows, and expects the error that the cell declares in
        `raises`, "Type: piece of the message".
        """
        before = [s for text in above for s in statements(text, PAGE, "a cell above")]
        own = statements(source, PAGE, "the cell")
        program = _Program(self._modules, before + own)
        program.keep(own)
        return program.text(source, raises)

    def listing(self, path: Path, pyobject: str | None) -> str:
        """The program of an object of the module at `path`, or of all of it."""
        body = self._modules.load(path)
        program = _Program(self._modules, body)
        if pyobject is None:
            source = path.read_text(encoding="utf-8")
            program.keep(body)
            return program.text(source) if program.links else source
        name = pyobject.split(".")[0]
        program.keep([], {(self._modules.label(path), name)})
        return program.text("")


class _Program:
    """The program that is being cut out of `body` and the modules it imports from."""

    def __init__(self, modules: Modules, body: list[Statement]):
        self.modules = modules
        self.all: list[Statement] = []  # modules first, in the order of importing
        self.links: dict[Name, Name] = {}
        self.troubles: dict[Name, SliceError] = {}
        self._gather(body, set())
        self.changes = Changes(self.all, self.links)
        self.bound: set[Name] = set()
        for statement in self.all:
            found = statement.facts
            self.bound |= statement.named(found.binds | found.maybe)
        self.own: list[Statement] = []
        self.wanted: set[Name] = set()
        self.kept: dict[Statement, set[Name]] = {}  # and the names wanted of an import
        self.owners: dict[str, str] = {}

    def _gather(self, body: list[Statement], seen: set[Path]) -> None:
        for statement in filter(is_import, body):
            try:
                path = self.modules.local(statement.node)
            except SliceError as error:
                names = statement.named(statement.facts.binds)
                self.troubles |= dict.fromkeys(names, error)
                continue
            if path:
                module = self.modules.load(path)
                if path not in seen:
                    seen.add(path)
                    self._gather(module, seen)
                for alias in statement.node.names:
                    name = (statement.unit, alias.asname or alias.name)
                    self.links[name] = (self.modules.label(path), alias.name)
        self.all += body

    # -- what is kept ----------------------------------------------------------
    def keep(self, own: list[Statement], wanted: Iterable[Name] = ()) -> None:
        """Keep the statements `own`, and what they and the names `wanted` need."""
        self.own, self.wanted = own, set(wanted)
        if all(map(is_import, own)):
            self.wanted |= {name for s in own for name in s.named(s.facts.binds)}
        must, due, closure = set(self.wanted), set(), self.changes.closure
        may = closure(must | {n for s in own for n in s.named(s.facts.later)})
        for statement in reversed(self.all):
            found, named = statement.facts, statement.named
            changed, outside = self.changes.made_by(statement)
            binds, maybe = named(found.binds), named(found.maybe) | changed
            if statement not in own:
                hit = (binds | maybe) & may
                outside = outside and not _is_device_line(statement.code)
                if _is_main(statement.node) or not (hit or outside):
                    continue
            self.kept[statement] = binds & may
            if isinstance(statement.node, ast.Import):
                maybe, binds = binds, set()  # `import a.b` leaves `a` what it was
            must -= binds | maybe
            may -= binds
            if is_import(statement):
                self._follow(statement, must, may)
                continue
            reads, later = named(found.reads), set()
            if found.calls and not isinstance(statement.node, ast.FunctionDef):
                later = named(found.later)
                due |= closure(reads | later)
            must |= reads
            may |= closure(reads | later)
        units = {statement.unit for statement in self.kept}
        for statement in self.all:
            if statement.unit in units and is_future(statement.node):
                self.kept[statement] = statement.named(statement.facts.binds)
        for unit, name in sorted(must | (due - self.bound)):
            if name not in _PYTHON:
                raise SliceError(self._missing((unit, name)))

    def _follow(self, statement: Statement, must: set[Name], may: set[Name]) -> None:
        for name in self.kept[statement]:
            if name in self.troubles:
                raise self.troubles[name]
            if name in self.links:
                must.add(self.links[name])
                may |= self.changes.closure({self.links[name]})

    def _missing(self, name: Name) -> str:
        if name[0] == PAGE:
            return f"uses `{name[1]}`, which {PAGE} never defines"
        asked = name in self.wanted or name in self.links.values()
        return f"{name[0]} {'has no' if asked else 'never defines'} `{name[1]}`"

    # -- how it is written -----------------------------------------------------
    def text(self, source: str, raises: str | None = None) -> str:
        """The program, whose last part is `source`, the text of its own statements."""
        kept, own = [s for s in self.all if s in self.kept], self.own
        self._claim_all(kept)
        replaced = self._last(source, raises)
        raised = own[-1:] if raises else []  # an import may be what raises
        inline = [
            s for s in own if is_import(s) and (s in raised or _sets_environment(own))
        ]
        inline = [s for s in inline if not s.named(s.facts.binds) & set(self.links)]
        replaced |= {s.node: "" for s in own if is_import(s) and s not in inline}
        above = [s for s in kept if s not in own and s.unit == PAGE]
        ends = [number for number, s in enumerate(above, 1) if _is_environment(s)]
        early, above = above[: max(ends, default=0)], above[max(ends, default=0) :]
        modules = [s for s in kept if s not in own and s.unit != PAGE]
        state = self._state([*above, *own], modules)
        replaced |= {s.node: "" for s in own if s in state}

        body = layout.body(source, [s.node for s in own], replaced)
        before = self._imported(early)
        others = [s for s in (*above, *modules, *own) if s not in inline]
        imported = [one for one in self._imported(others) if one not in before]
        head = [Part(s.comment + s.code) for s in state]
        if device := self._device_line(kept):
            head.insert(0, Part(device))
            imported.append(Imported("jax", None, None))
        documented = bool(own) and own[0].unit != PAGE and _is_docstring(own[0])
        return layout.joined(
            [
                [body.pop(0)] if documented else [],
                *([part] for part in layout.imports(before)),
                self._parts(early),
                *([part] for part in layout.imports(imported)),
                head,
                self._parts(modules),
                self._parts(s for s in [*above, *own] if s not in state),
                body,
            ]
        )

    def _parts(self, kept: Iterable[Statement]) -> list[Part]:
        """What stands above the cell: statements, and other names for what they are."""
        texts = []
        for statement in kept:
            if is_import(statement):
                renamed = self._renamed([statement])
                texts += [f"{name[1]} = {link[1]}" for name, link in renamed]
            elif statement not in self.own:
                texts.append(statement.comment + statement.code)
        return [Part(text) for text in texts]

    def _last(self, source: str, raises: str | None) -> dict[ast.stmt, str]:
        """The last statement as a program needs it: printed, or with its error."""
        if not self.own:
            return {}
        node = self.own[-1].node
        code = ast.get_source_segment(source, node)
        if raises:
            return {node: layout.expected(code, node, raises)}
        end = source.split("\n")[node.end_lineno - 1].encode()[node.end_col_offset :]
        quiet = end.strip().startswith(b";")
        if shows(node) and not quiet and not self._is_silent(self.own[-1]):
            return {node: layout.printed(code, node.value)}
        return {}

    def _is_silent(self, statement: Statement) -> bool:
        """Whether it calls a function of the page or a module that returns nothing."""
        call = statement.node.value
        if not isinstance(call, ast.Call):
            return False
        name = (statement.unit, getattr(call.func, "id", ""))
        while name in self.links:
            name = self.links[name]
        functions = [s.node for s in self.all if (s.unit, _name(s.node)) == name]
        if isinstance(call.func, ast.Attribute):
            classes = [s.node for s in self.all if isinstance(s.node, ast.ClassDef)]
            members = [node for one in classes for node in one.body]
            functions = [node for node in members if _name(node) == call.func.attr]
        return (
            bool(functions)
            and isinstance(functions[-1], ast.FunctionDef)
            and not any(
                isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.value
                for node in own_nodes(functions[-1])
            )
        )

    def _claim_all(self, kept: list[Statement]) -> None:
        """Make sure that no name means two things in the program."""
        for statement in kept:
            found, node = statement.facts, statement.node
            for inner in ast.walk(node):
                nested = inner is not node and isinstance(
                    inner, ast.Import | ast.ImportFrom
                )
                if nested and self.modules.local(inner):
                    raise SliceError(f"move `{ast.unparse(inner)}` to the top level")
            if not is_import(statement):
                for name in found.binds | found.maybe:
                    self._claim(name, statement.unit)
            for name in found.reads | found.later:
                if name in _PYTHON and (statement.unit, name) not in self.bound:
                    self._claim(name, "Python")
        for name, link in self._renamed(kept):
            self._claim(name[1], f"{link[0]} as {link[1]}")
        for one in self._imported(kept):
            self._claim(one.bound, one.means)

    def _claim(self, name: str, owner: str) -> None:
        if self.owners.setdefault(name, owner) != owner:
            raise SliceError(
                f"`{name}` means one thing in {self.owners[name]} and another in "
                f"{owner}; give one of them another name"
            )

    def _renamed(self, kept: list[Statement]) -> list[tuple[Name, Name]]:
        """Names of modules that the page, or another module, calls by other names."""
        names = {name for s in kept for name in self.kept[s] if name in self.links}
        links = [(name, self.links[name]) for name in sorted(names)]
        return [(name, link) for name, link in links if name[1] != link[1]]

    def _imported(self, kept: list[Statement]) -> list[Imported]:
        """What `kept` statements import from elsewhere, so far as it is wanted."""
        found: dict[tuple[str, str], Imported] = {}
        for statement in filter(is_import, kept):
            node = statement.node
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                wanted = (statement.unit, name) in self.kept[statement]
                if not wanted or (statement.unit, name) in self.links:
                    continue
                one = Imported(alias.name, None, alias.asname)
                if isinstance(node, ast.ImportFrom):
                    one = Imported(node.module, alias.name, alias.asname)
                key = one.module if one.means == one.bound else one.means
                found.setdefault((one.bound, key), one)
        used = {path for s in self.kept for path in _paths(s.node)}
        whole = [one for one in found.values() if not (one.name or one.alias)]
        useful = [one for one in whole if one.module in used or "." not in one.module]
        known = {one.bound for one in useful}
        return [
            one
            for one in found.values()
            if one not in whole or one in useful or one.bound not in known
        ]

    def _state(
        self, steps: list[Statement], modules: list[Statement]
    ) -> list[Statement]:
        """The settings of JAX that come first, where they can stand above modules."""
        found, inert = [], all(map(_is_inert, modules))
        for statement in steps:
            device = _is_device_line(statement.code)
            sets = inert and statement.code.startswith("jax.config.update(")
            if device or sets:
                found.append(statement)
            elif not is_import(statement):
                break
        return found

    def _device_line(self, kept: list[Statement]) -> str | None:
        """The line that gives the program devices, if it needs it and has none."""
        environment = [s.code for s in kept if _is_environment(s)]
        if any("device" in code.lower() for code in environment):
            return None
        if any(_is_device_line(s.code) for s in kept):
            return None
        if not any(spreads(s.node) for s in kept):
            return None
        lines = [s.code for s in self.all if _is_device_line(s.code)]
        return lines[-1] if lines else DEVICE_LINE


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _is_docstring(statement: Statement) -> bool:
    value = getattr(statement.node, "value", None)
    return isinstance(statement.node, ast.Expr) and isinstance(value, ast.Constant)


def _is_device_line(code: str) -> bool:
    return code.startswith(DEVICE_LINE.split(",")[0])


def _is_environment(statement: Statement) -> bool:
    """Whether it sets the environment when the module is read, not when called."""
    later = isinstance(statement.node, ast.FunctionDef | ast.ClassDef)
    return "environ" in statement.code and not (later or is_import(statement))


def _sets_environment(own: list[Statement]) -> bool:
    sets = [i for i, s in enumerate(own) if _is_environment(s)]
    return bool(sets) and any(is_import(s) for s in own[sets[0] :])


def _is_inert(statement: Statement) -> bool:
    """Whether it computes nothing: a definition, an import, a plain constant."""
    if isinstance(statement.node, ast.FunctionDef | ast.ClassDef):
        return not statement.node.decorator_list
    calls = [n for n in ast.walk(statement.node) if isinstance(n, ast.Call)]
    return all(getattr(n.func, "id", "") in {"P", "PartitionSpec"} for n in calls)


def _name(node: ast.stmt) -> str:
    return getattr(node, "name", "")


def _paths(node: ast.AST) -> Iterable[str]:
    """The dotted names in a statement: `jax.scipy.linalg.det` and how it begins."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            yield ast.unparse(part)


def programs(
    page: Page, slicer: Slicer, fail: Callable[[Problem], None]
) -> dict[str, str]:
    """The program of every visible cell and listing of `page`: name -> text."""
    found = {}
    for index, cell in enumerate(page.cells):
        if not cell.visible:
            continue
        # Removed cells draw, they never define: a program cannot need one.
        before = () if cell.fresh else page.cells[:index]
        above = [_completed(c) for c in before if c.visible and not c.fresh]
        try:
            found[f"cell{cell.number}"] = slicer.cell(above, cell.source, cell.raises)
        except SliceError as error:
            fail(Problem(page.name, str(error), cell.line, cell.number))
    for listing in page.listings:
        if not _there(listing):
            continue  # Sphinx reports it
        try:
            found[f"listing{listing.number}"] = slicer.listing(
                listing.path, listing.pyobject
            )
        except SliceError as error:
            fail(Problem(page.name, f"a listing: {error}", listing.line))
    return found


def _completed(cell: Cell) -> str:
    """What of the cell's source ran to its end: all of it, unless it was to raise."""
    if not cell.raises:
        return cell.source
    last = ast.parse(cell.source).body[-1]
    lines = cell.source.split("\n")[: last.lineno]
    lines[-1] = lines[-1][: last.col_offset]
    return "\n".join(lines).rstrip("; \n")


def _there(listing: Listing) -> bool:
    """Whether there is such a file, of Python, and such an object in it."""
    if listing.path.suffix != ".py" or not listing.path.is_file():
        return False
    name = re.escape((listing.pyobject or "").split(".")[0])
    text = listing.path.read_text(encoding="utf-8")
    return bool(re.search(rf"^(async def|def|class) {name}\b", text, re.M)) or not name
