"""Where code comes from: the statements of a cell, and those of the modules it uses."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from book.cut.changes import Statement
from book.cut.names import facts


class SliceError(Exception):
    """Says what about the code cannot be cut out."""


def statements(source: str, unit: str, where: str) -> list[Statement]:
    """Parse `source` into statements; raises `SliceError` naming `where`."""
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise SliceError(f"{where} is not Python: {error.msg}") from None
    lines, result, above = source.split("\n"), [], 0
    for node, below in zip(body, [*body, None][1 : len(body) + 1], strict=True):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            raise SliceError(
                f"`{ast.unparse(node)}` in {where} hides where names come from; "
                "import them by name"
            )
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
        found = facts(node, below is None, any(map(is_future, body)))
        result.append(Statement(node, unit, comment, code, found))
    return result


def is_import(statement: Statement) -> bool:
    """Whether it is an import statement."""
    return isinstance(statement.node, ast.Import | ast.ImportFrom)


def is_future(node: ast.stmt) -> bool:
    """Whether it imports from `__future__`."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


class Modules:
    """The modules in the folders `roots`, which are written out, not imported."""

    def __init__(self, roots: tuple[Path, ...]):
        self.roots = roots
        self.load = cache(self._load)

    def _load(self, path: Path) -> list[Statement]:
        label = self.label(path)
        return statements(path.read_text(encoding="utf-8"), label, label)

    def label(self, path: Path) -> str:
        """What messages call the module at `path`."""
        folders = [root for root in self.roots if path.is_relative_to(root)]
        return path.relative_to(folders[0]).as_posix() if folders else path.name

    def local(self, node: ast.Import | ast.ImportFrom) -> Path | None:
        """The file under `roots` that an import statement names; None if none."""
        text = ast.unparse(node)
        if isinstance(node, ast.Import):
            if any(self._mine(alias.name) for alias in node.names):
                name = node.names[0].name
                raise SliceError(
                    f"`{text}` imports a module; "
                    f"write `from {name} import …` with the names it needs"
                )
            return None
        if node.level:
            raise SliceError(f"`{text}` is relative; name the whole path")
        if not self._mine(node.module):
            return None
        for alias in node.names:
            if self._find(f"{node.module}.{alias.name}"):
                raise SliceError(
                    f"`{text}` imports a module; "
                    f"write `from {node.module}.{alias.name} import …`"
                )
        found = self._find(node.module)
        if not found:
            raise SliceError(f"`{text}`: there is no module {node.module}")
        return found

    def _mine(self, module: str) -> bool:
        """Whether a module, or the folder that it should be in, is under `roots`."""
        top = module.split(".")[0]
        return self._find(top) is not None or any(
            any((folder / top).rglob("*.py")) for folder in self.roots
        )

    def _find(self, module: str) -> Path | None:
        for folder in self.roots:
            path = folder.joinpath(*module.split("."))
            for file in (path.with_suffix(".py"), path / "__init__.py"):
                if file.is_file():
                    return file
        return None
