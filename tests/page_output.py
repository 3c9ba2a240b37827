"""What the lessons of a page print, each in its place, and what a copy of one prints.

The page's script, which has its lessons in order, runs once, with lines below each cell
that say which one has ended: so a lesson runs there below all the lessons above it.
Its program has only those that the slicer kept, and has to print the same below them.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from book import error_text
from book.exports.notebook import CodeCell, code_of_lessons, contents
from book.exports.notebook import script as script_of
from book.snippets import layout
from book.snippets.lessons import Lessons
from book.snippets.slicer import Slicer, programs
from book.snippets.vocabulary import called
from book.source.model import Cell, Page
from book.state import Problem
from tests.launcher import Ended

ELSE = "its copy prints something else than the page shows:"
WHY = (
    "a lesson above changes in place what another lesson made, or it is another in "
    "each run, and then the cell is `:varies:`"
)
_END, _ABOVE, _OWN = "\0end of ", "what is above", "its own"
# Below a cell: what JAX has not printed yet, and then which cell that was.
_MARK = """
import contextlib as _contextlib, sys as _sys
with _contextlib.suppress(Exception):
    _sys.modules["jax"].effects_barrier()
print({end!r}, flush=True)"""


def wrong_copies(
    page: Page, slicer: Slicer, jax: str, run: Callable[[str, str], Ended]
) -> Iterator[str]:
    """A sentence for each copy of a part of `page` that does not do what it does there.

    `run` runs a program: it gets "script", "cell3" or "listing1", and the text.  A cell
    that varies, and a listing, only has to run.
    """
    problems: list[Problem] = []
    found = programs(page, slicer, problems.append)
    steps = code_of_lessons(page, slicer) if not problems else {}
    yield from map(str, problems)
    if not steps:
        return
    script = marked(page, slicer, contents(page, steps, jax))
    ended = run("script", script)
    if ended.code:
        yield _failed(f"{page.name}: its script", script, ended)
        return
    for name in ended.left:
        if not re.search(rf"\b{re.escape(name)}\b.*# writes", script):
            yield f"{page.name}: its script leaves {name}; say so: `# writes …`"
    shown = by_cell(ended.out)
    lessons = _lessons(page, slicer)
    cells = {f"cell{cell.number}": cell for cell in page.cells}
    for which, program in found.items():
        if which not in cells:
            if (ended := run(which, program)).code:
                yield _failed(f"{page.name}, {which}", program, ended)
            continue
        cell = cells[which]
        at = f"{page.name}, cell {cell.number}"
        ended = run(which, marked_copy(program, lessons, cell))
        if ended.code:
            yield _failed(f"{at}: its copy", program, ended)
        elif not cell.varies:
            above = [shown[f"cell{c.number}"] for c in _above(page, cell)]
            if told := _else(cell, shown[which], "".join(above), by_cell(ended.out)):
                yield f"{at}: {ELSE}\n{told}\n(line {cell.line}; {WHY})\n\n{program}"


def _lessons(page: Page, slicer: Slicer) -> Lessons:
    return slicer.page(page.cells)


def _above(page: Page, cell: Cell) -> list[Cell]:
    """The lessons above `cell` that a script has."""
    above = (one for one in page.cells if one.number < cell.number)
    return [one for one in above if one.visible and not one.fresh]


def _else(cell: Cell, shown: str, above: str, printed: dict[str, str]) -> str:
    """How a copy differs from its page: in its own part, or in what it takes along.

    What it takes along prints nothing that the lessons above do not show.
    """
    here = as_shown(cell, shown)
    there = as_shown(cell, printed[_OWN])
    if here != there:
        return difference(here, there)
    lines = iter(above.splitlines())
    more = [line for line in printed[_ABOVE].splitlines() if line not in lines]
    return "\n".join(f"+ {line}" for line in more)


def marked(page: Page, slicer: Slicer, parts: list[str | CodeCell]) -> str:
    """The script of `parts` which says where the output of each cell ends.

    Where a copy prints the value that a lesson computes last, so does this.
    """
    lessons = _lessons(page, slicer)
    cells = {f"cell{cell.number}": cell for cell in page.cells}
    made: list[str | CodeCell] = []
    for part in parts:
        if isinstance(part, CodeCell) and part.script:
            cell, script = cells.get(part.id), part.script
            if cell and not cell.fresh:
                script += f"\n{lessons.computed(cell)}"
            script += _MARK.format(end=f"{_END}{part.id}")
            part = replace(part, script=script)
        made.append(part)
    return script_of(made)


def marked_copy(program: str, lessons: Lessons, cell: Cell) -> str:
    """The program of a cell which says where the output of the cell's own part begins.

    Above it stand the imports, and what is taken along from lessons above.  Where the
    cell raises, this goes on and prints the error as its page's script does.
    """
    own = {one.node for one in lessons.of(cell) if one.fails or not one.imported}
    count = len(own) + bool(lessons.computed(cell))
    if cell.raises:
        program = caught(program, cell.raises)
    body, lines = ast.parse(program).body, program.splitlines()
    at = len(lines)
    if count:
        first = body[-count]
        rules = getattr(first, "decorator_list", ())
        at = min(node.lineno for node in (first, *rules)) - 1
    above, below = "\n".join(lines[:at]), "\n".join(lines[at:])
    ends = (_MARK.format(end=f"{_END}{part}") for part in (_ABOVE, _OWN))
    return f"{above}{next(ends)}\n{below}{next(ends)}\n"


def caught(program: str, raises: str) -> str:
    """A program whose last statement raises as it is meant to, and which prints that.

    It fails where nothing, or something else, is raised; an exercise may pass.
    """
    last, lines = ast.parse(program).body[-1], program.splitlines()
    start = layout.first_line(last) - 1
    code = "\n".join(lines[start : layout.last_line(last)])
    if called(getattr(last, "value", None)) == "check":
        return "\n".join([*lines[:start], layout.reported(code, last)])
    return "\n".join([*lines[:start], layout.expected(code, last, raises)])


def by_cell(out: str) -> dict[str, str]:
    """What each cell of a `marked` script printed, by the cell's id."""
    found, text = {}, ""
    for line in out.splitlines(keepends=True):
        before, end, name = line.partition(_END)
        text += before
        if end:
            found[name.rstrip("\n")], text = text, ""
    return found


def unmarked(out: str) -> str:
    """What a program printed, without the lines that say where a part ends."""
    lines = out.splitlines(keepends=True)
    return "".join(line.partition(_END)[0] for line in lines)


def as_shown(cell: Cell, printed: str) -> str:
    """What a program `printed`, with the message of an error as pages show it.

    A program prints the first line of the message, last of all.
    """
    if not cell.raises:
        return printed
    above, _, last = f"\n{printed.rstrip()}".rpartition("\n")
    return f"{error_text.without_places(above)}\n{message(last)}\n".lstrip("\n")


def message(line: str) -> str:
    """The message of an error, of which a program printed one `line`."""
    kind, _, said = line.partition(": ")
    return " ".join(error_text.message(kind.rstrip(":"), said).split())


def difference(shown: str, printed: str) -> str:
    """The lines that a page shows and a copy does not, -, or the other way, +."""
    compared = difflib.ndiff(shown.splitlines(), printed.splitlines())
    return "\n".join(line for line in compared if line[0] in "-+")


def _failed(what: str, program: str, ended: Ended) -> str:
    return f"{what} ends with status {ended.code}\n\n{program}\n{ended.out}{ended.err}"
