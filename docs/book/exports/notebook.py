"""A page as one program: its lessons, in order, as a notebook and as a script.

Each lesson is a cell.  One that imports from `examples/` stands below the code that it
takes from there, written out as in any copy; one that raises keeps its error; checks
and figures stay on the site.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from book.snippets import render as layout
from book.snippets.lessons import Lessons
from book.snippets.program import DEVICE_LINES, Program
from book.snippets.slicer import Slicer
from book.snippets.statements import PAGE, SliceError, Statement
from book.source.page import Cell, Page
from book.state import Problem

_FRESH = "# A program of its own: it needs a Python in which JAX has not started."


@dataclass(frozen=True)
class Step:
    """A cell of code: as it stands in a notebook, and in a script."""

    id: str
    notebook: str
    script: str
    raises: bool = False


def lessons_of(
    page: Page, slicer: Slicer, fail: Callable[[Problem], None]
) -> dict[int, list[Step]]:
    """The steps of each lesson of `page`, whose programs can be cut, by its number."""
    try:
        return _steps(page, slicer)
    except SliceError as error:
        at = (error.cell.line, error.cell.number) if error.cell else ()
        fail(Problem(page.name, str(error), *at))
        return {}


def _steps(page: Page, slicer: Slicer) -> dict[int, list[Step]]:
    lessons = slicer.page(page.cells, page.kernel == "mesh-of-eight")
    found: dict[int, list[Step]] = {}
    done: set[Statement] = set()
    for cell in page.cells:
        if cell.visible:
            made = _fresh(cell) if cell.fresh else _lesson(lessons, cell, done)
            found[cell.number] = [step for step in made if step.notebook]
    return found


def _fresh(cell: Cell) -> list[Step]:
    name = f"cell{cell.number}"
    left = "\n".join(f"# {line}".rstrip() for line in cell.source.splitlines())
    script = f"{_FRESH}\n# Save what follows as a file, and run that.\n#\n{left}"
    run = f"import sys\n\n!{{sys.executable}} {name}.py"
    written = f"%%writefile {name}.py\n{cell.source.rstrip()}"
    return [Step(name, written, script), Step(f"{name}-runs", run, "")]


def _lesson(lessons: Lessons, cell: Cell, done: set[Statement]) -> list[Step]:
    """The step of a lesson, below one with what it takes from elsewhere."""
    name = f"cell{cell.number}"
    own = lessons.of(cell)
    taken = [s for s in own if s.imported and (PAGE, s.imported.bound) in lessons.links]
    kept = lessons.keep(taken)
    new = {s for s in kept if s.unit != PAGE and s not in done}
    _clash(lessons, new, cell.number)
    done |= {s for s in new if not s.imported}
    above = Program(lessons, new, []).without_devices() if new else ""
    program = Program(lessons, kept, own)
    local = {s.node: "" for s in taken}
    texts = [
        _set(cell.source, own, local | last) for last in ({}, program.last(cell.raises))
    ]
    used = Step(f"{name}-uses", above, above)
    return [used, Step(name, *texts, bool(cell.raises))]


def _set(source: str, own: list[Statement], replaced: dict[ast.stmt, str]) -> str:
    """The text of a cell with some statements replaced; else as it stands."""
    if not replaced:
        return source.strip("\n")
    return layout.joined([layout.body(source, own, replaced)]).strip("\n")


def _clash(lessons: Lessons, new: Iterable[Statement], at: int) -> None:
    """No code above lesson `at` takes a name that lessons go on using."""
    theirs = {n: s.unit for s in new if not s.imported for n in s.uses.bound}
    for s in lessons.all if theirs else ():
        if s.unit != PAGE or s.hidden or s.imported or s.cell.number < at:
            continue
        mine = s.uses.bound | (s.uses.reads | s.uses.later) & _before(lessons, at)
        for name in sorted(mine & theirs.keys()):
            raise SliceError(
                f"has a `{name}`, and so has the code of {theirs[name]}, which stands "
                f"above cell {at} in the page's notebook; give one another name",
                s.cell,
            )


def _before(lessons: Lessons, at: int) -> set[str]:
    """The names that lessons above lesson `at` define."""
    own = (s for s in lessons.all if s.unit == PAGE and s.cell.number < at)
    own = (s for s in own if not (s.hidden or s.imported))
    return {name for s in own for name in s.uses.bound}


def packages(steps: list[Step]) -> list[str]:
    """What a page has to have installed, as pip calls it: JAX first."""
    code = "\n".join(step.notebook for step in steps)
    found = set(re.findall(r"^\s*(?:from|import) (\w+)", code, re.MULTILINE))
    found -= {*sys.stdlib_module_names, "jax", "jaxlib", "numpy"}
    return sorted(found)


def head(title: str, jax: str, more: list[str], eight: bool) -> str:
    """The first cell: what this is, and what it was verified on."""
    lines = [
        f"# {title}",
        f"# Verified on JAX {jax}: pip install {' '.join([f'jax=={jax}', *more])}",
        "import warnings",
        "from importlib.metadata import version",
    ]
    if eight:
        lines += ["", "import jax", "", DEVICE_LINES]
    lines += [
        "",
        f'if version("jax") != "{jax}":',
        f'    told = "verified on JAX {jax}, and this is " + version("jax")',
        "    warnings.warn(told, stacklevel=1)",
    ]
    return "\n".join(lines)
