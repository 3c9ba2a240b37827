"""A page's lessons as a notebook and as a script, which stand beside the page.

Both have the lessons in order, and the page's text between them; both run as they are
in an empty folder where JAX is installed, and the tests run every one.  Each lesson is
a cell.  One that imports from `examples/` stands below the code that it takes from
there, written out as in any copy; one that raises keeps its error; checks and figures
stay on the site.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

import nbformat
from docutils import nodes
from nbformat import v4
from sphinx.application import Sphinx
from sphinx.locale import _

from book.exports.markdown_writer import MarkdownWriter, Part
from book.files import write_changed_remove_rest
from book.snippets import layout
from book.snippets.lessons import Lessons
from book.snippets.program import Program
from book.snippets.slicer import Slicer, problem_of
from book.snippets.statements import PAGE, SliceError, Statement
from book.source.model import Cell, Page
from book.state import PageState, book_of

ENDS = (".ipynb", ".py")
_PIP = {"orbax": "orbax-checkpoint"}  # what pip calls otherwise than Python does
# Cells of a notebook, without what is in them.
_TEXT: dict[str, object] = {"cell_type": "markdown", "metadata": {}}
_CODE = _TEXT | {"cell_type": "code", "outputs": [], "execution_count": None}
_RAISES = {"metadata": {"tags": ["raises-exception"]}}
_FRESH = "# A program of its own: it needs a Python in which JAX has not started."


@dataclass(frozen=True)
class CodeCell:
    """A cell of code, as it stands in a notebook and in a script.

    Where one of the texts is empty, only the other has the cell; `raises` tells whether
    it is meant to fail.
    """

    id: str
    notebook: str
    script: str
    raises: bool = False


# -- the code of a page --------------------------------------------------------------
def code_of_lessons(page: Page, slicer: Slicer) -> dict[int, list[CodeCell]]:
    """The code of each lesson of `page`, by the number of its cell.

    Raises `Problem` where the lessons make no program.
    """
    try:
        return _code_of_lessons(page, slicer)
    except SliceError as error:
        raise problem_of(page, error) from None


def _code_of_lessons(page: Page, slicer: Slicer) -> dict[int, list[CodeCell]]:
    lessons = slicer.page(page.cells)
    found: dict[int, list[CodeCell]] = {}
    done: set[Statement] = set()
    for cell in page.cells:
        if cell.visible:
            made = _fresh(cell) if cell.fresh else _lesson(lessons, cell, done)
            found[cell.number] = [code for code in made if code.notebook]
    return found


def _fresh(cell: Cell) -> list[CodeCell]:
    """A program of its own: a notebook writes and runs it; a script has it as text."""
    name = f"cell{cell.number}"
    left = "\n".join(f"# {line}".rstrip() for line in cell.source.splitlines())
    script = f"{_FRESH}\n# Save what follows as a file, and run that.\n#\n{left}"
    run = f"import sys\n\n!{{sys.executable}} {name}.py"
    written = f"%%writefile {name}.py\n{cell.source.rstrip()}"
    return [CodeCell(name, written, script), CodeCell(f"{name}-runs", run, "")]


def _lesson(lessons: Lessons, cell: Cell, done: set[Statement]) -> list[CodeCell]:
    """A lesson, below a cell with what it takes from elsewhere, if not `done` above."""
    name = f"cell{cell.number}"
    own = lessons.of(cell)
    taken = [s for s in own if lessons.needs.is_ours(s)]
    kept = lessons.needs.keep(taken)
    new = {s for s in kept if s.unit != PAGE and s not in done}
    _refuse_clashes(lessons, new, cell.number)
    done |= {s for s in new if not s.imported}
    above = Program(lessons, new, []).above_with_imports() if new else ""
    program = Program(lessons, kept, own)
    local = {s.node: "" for s in taken}
    in_notebook = _replace(cell.source, own, local)
    in_script = _replace(cell.source, own, local | program.last(cell.raises))
    used = CodeCell(f"{name}-uses", above, above)
    return [used, CodeCell(name, in_notebook, in_script, bool(cell.raises))]


def _replace(source: str, own: list[Statement], replaced: dict[ast.stmt, str]) -> str:
    """The text of a cell with some of its statements replaced."""
    if not replaced:
        return source.strip("\n")
    return layout.joined([layout.body(source, own, replaced)]).strip("\n")


def _refuse_clashes(lessons: Lessons, new: Iterable[Statement], at: int) -> None:
    """Raise `SliceError` where code above lesson `at` takes a name of later lessons."""
    theirs = {n: s.unit for s in new if not s.imported for n in s.uses.bound}
    if not theirs:
        return
    before: set[str] = set()  # names that lessons above define
    for s in lessons.all:
        if s.unit != PAGE or s.cell is None or s.hidden or s.imported:
            continue
        if s.cell.number < at:
            before |= s.uses.bound
            continue
        mine = s.uses.bound | (s.uses.reads | s.uses.later) & before
        for name in sorted(mine & theirs.keys()):
            raise SliceError(
                f"has a `{name}`, and so has the code of {theirs[name]}, which stands "
                f"above cell {at} in the page's notebook; give one another name",
                s.cell,
            )


# -- a notebook and a script ---------------------------------------------------------
def contents(
    page: Page,
    lessons: dict[int, list[CodeCell]],
    jax: str,
    parts: Iterable[Part] | None = None,
    address: str = "",
) -> list[str | CodeCell]:
    """The texts and the code that the files of `page` have, in order.

    `lessons` is its code; `jax` the version that verified it; `parts` its
    text and its cells, or None for the code alone; `address` where the site has it.
    """
    if parts is None:
        parts = [Part("", number) for number in lessons]
    code = [one for made in lessons.values() for one in made]
    more = packages(code)
    first = first_cell(page.title, jax, more)
    found: list[str | CodeCell] = [
        CodeCell("verified-on", first, f"{needs(jax, more)}\n{first}")
    ]
    if address:
        found.append(
            _("From [One Function, Many Devices]({page}).").format(page=address)
        )
    for part in parts:
        if part.cell in lessons:
            found += lessons[part.cell]
        elif part.text:
            found.append(part.text)
    return found


def packages(cells: list[CodeCell]) -> list[str]:
    """The packages that a page needs beside JAX and NumPy, as pip calls them."""
    code = "\n".join(cell.notebook for cell in cells)
    found = set(re.findall(r"^\s*(?:from|import) (\w+)", code, re.MULTILINE))
    found -= {*sys.stdlib_module_names, "jax", "jaxlib", "numpy"}
    return sorted(_PIP.get(name, name) for name in found)


def needs(jax: str, more: list[str]) -> str:
    """What a script needs, as comments that `uv run` and others read (PEP 723)."""
    listed = json.dumps([f"jax=={jax}", *more])
    lines = ["/// script", 'requires-python = ">=3.11"', f"dependencies = {listed}"]
    return "\n".join(f"# {line}" for line in [*lines, "///"])


def first_cell(title: str, jax: str, more: list[str]) -> str:
    """The first cell: what this is, and what it was verified on.

    `more` are packages to install; one that is missing raises there, before the work.
    """
    lines = [
        f"# {title}",
        f"# Verified on JAX {jax}: pip install {' '.join([f'jax=={jax}', *more])}",
        "import warnings",
        "from importlib.metadata import version",
        "",
        *(f'version("{name}")  # raises where it is not installed' for name in more),
        f'if version("jax") != "{jax}":',
        f'    told = "verified on JAX {jax}, and this is " + version("jax")',
        "    warnings.warn(told, stacklevel=1)",
    ]
    return "\n".join(lines)


def notebook(made: list[str | CodeCell]) -> str:
    """Texts and code as a notebook, in JSON."""
    found: list[dict[str, object]] = []
    for number, one in enumerate(made):
        if isinstance(one, str):
            found.append(_TEXT | {"id": f"text{number}", "source": one})
        elif one.notebook:
            cell = _CODE | {"id": one.id, "source": one.notebook}
            found.append(cell | _RAISES if one.raises else cell)
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {
        "cells": found,
        "metadata": {"kernelspec": spec},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return v4.writes_json(nbformat.from_dict(content)) + "\n"  # tests validate it


def script(made: list[str | CodeCell]) -> str:
    """Texts and code as a script, in cells as editors know them."""
    parts = []
    for one in made:
        if isinstance(one, str):
            lines = (f"# {line}".rstrip() for line in one.splitlines())
            parts.append("\n".join(["# %% [markdown]", *lines]))
        elif one.script:
            parts.append(f"# %%\n{one.script}")
    return "\n\n".join(parts) + "\n"


# -- what Sphinx calls ---------------------------------------------------------------
def write_page(
    app: Sphinx,
    name: str,
    template: str,
    context: dict,
    document: nodes.document | None,
) -> None:
    """Write the notebook and the script of a page when its HTML is written."""
    if document is None:
        return  # a page without a source, such as the search
    book = book_of(app)
    state, page = book.state(name), book.state(name).page
    if page is None or page.kernel is None or not has_files(state):
        return
    site = app.config.html_baseurl
    address = urljoin(site.rstrip("/") + "/", f"{name}.html") if site else ""
    parts = MarkdownWriter(lambda to: address and urljoin(address, to)).parts(document)
    jax = book.kernels[page.kernel].jax
    made = contents(page, state.code_cells, jax, parts, address)
    out = Path(app.outdir)
    files: dict[Path, str | None] = {
        out / f"{name}.ipynb": notebook(made),
        out / f"{name}.py": script(made),
    }
    write_changed_remove_rest([], files)


def has_files(state: PageState) -> bool:
    """Whether a page has a notebook and a script: it has a lesson, and did not fail."""
    return bool(state.code_cells) and not state.problems
