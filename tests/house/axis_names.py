"""Which names axes have, on pages and in programs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from book.source.model import Page
from tests.house.book import Program, at, called

AXES = ("rows", "inner", "batch", "model", "data", "stage", "expert", "sequence")
AXES += ("height", "width", "slice", "fsdp", "host")
# What an argument that names axes is called, and where it stands.
AXIS_KEYWORDS = {"axis_name", "axis_names", "spmd_axis_name"}
AXIS_POSITION = {
    **dict.fromkeys(("P", "PartitionSpec"), slice(None)),
    **dict.fromkeys(("axis_index", "axis_size"), slice(1)),
    **dict.fromkeys(("make_mesh", "Mesh", "AbstractMesh"), slice(1, 2)),
    **dict.fromkeys(("psum", "pmean", "pmax", "pmin", "pcast", "pvary"), slice(1, 2)),
    **dict.fromkeys(("all_gather", "all_to_all", "ppermute"), slice(1, 2)),
    **dict.fromkeys(("psum_scatter", "pshuffle", "pswapaxes"), slice(1, 2)),
}


def page_axes(page: Page) -> list[str]:
    """Axes have the names of the house on every page."""
    found = []
    for cell in page.cells:
        for line, name in strange_axes(ast.parse(cell.source)):
            found.append(at(page, cell.line + line - 1, _axis(name)))
    return found


def program_axes(program: Program) -> list[str]:
    """Axes have the names of the house in every program."""
    return [at(program, line, _axis(n)) for line, n in strange_axes(program.tree)]


def _axis(name: str) -> str:
    return f"an axis is called {name!r}; the names are {', '.join(AXES)}"


def strange_axes(
    tree: ast.AST, known: Iterable[str] = AXES
) -> Iterator[tuple[int, str]]:
    """Line and name of each axis whose name is none of the house's."""
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        named = list(call.args[AXIS_POSITION.get(called(call), slice(0))])
        named += [k.value for k in call.keywords if k.arg in AXIS_KEYWORDS]
        for value in named:
            for node in ast.walk(value):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and text not in known:
                    yield node.lineno, text
