"""A page's notebook has the code of its script, and shows what the page shows.

That each script runs, and prints what the copies of its lessons print, is tested with
them (`test_snippets.py`).
"""

import ast
import os
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

import nbclient
import nbformat
import pytest
from nbformat import v4

from book import error_text
from book.exports.notebook import CodeCell, code_of_lessons, contents, notebook
from book.snippets.slicer import Slicer
from tests.house.book import Book

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RUN = "mesh/grid_with_names", "errors/branch_types"  # in Jupyter, too
BOOK = Book(ROOT)
ALL = {name: BOOK.page(name) for name in BOOK.page_names}
PAGES = {name: page for name, page in ALL.items() if page.cells}
SLICER = Slicer((ROOT, DOCS))


@cache
def taken(name: str) -> list[str | CodeCell]:
    """What the files of the page `name` have."""
    steps = code_of_lessons(PAGES[name], SLICER)
    return contents(PAGES[name], steps, version("jax"))


def plain(code: str) -> list[str]:
    """The statements of `code`; one that is shown, or raises, as in a notebook."""
    body = ast.parse(code).body
    if body and isinstance(body[-1], ast.Try) and "as raised:" in code:
        body[-1:] = body[-1].body
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    found = [ast.unparse(node) for node in body]
    if isinstance(last, ast.Call) and ast.unparse(last.func) == "print":
        found[-1] = ", ".join(map(ast.unparse, last.args))
    return found


def test_a_cell_of_a_notebook_is_what_the_script_runs():
    assert plain("x = 1\nprint(x)") == plain("x = 1\nx") == ["x = 1", "x"]
    for name in PAGES:
        for step in taken(name):
            if isinstance(step, str) or not step.script:
                continue
            if step.notebook.startswith("%%writefile"):
                [file] = re.findall(r"%%writefile (\w+).py\n", step.notebook)
                cell = PAGES[name].cells[int(file.removeprefix("cell")) - 1]
                assert step.notebook.partition("\n")[2] == cell.source.rstrip()
                assert cell.fresh  # which the build runs as a file
            else:
                there, here = plain(step.notebook), plain(step.script)
                assert there[:-1] == here[:-1], (name, step.id)
                assert there[-1].strip("()") == here[-1].strip("()"), (name, step.id)


def kinds(name: str) -> set[str]:
    """What the notebook of a page has that its script says in another way."""
    steps = [step for step in taken(name) if not isinstance(step, str)]
    magic = {
        found for s in steps for found in re.findall(r"^%+\w+|^!", s.notebook, re.M)
    }
    return magic | {"raises" for step in steps if step.raises}


def test_the_notebooks_that_run_have_all_that_a_script_does_not():
    assert set().union(*map(kinds, PAGES)) == set().union(*map(kinds, RUN))


def run_in_jupyter(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run the cells of a notebook, one of which may raise where a tag says so."""
    folder.mkdir()
    resources = {"metadata": {"path": folder}}
    nbclient.NotebookClient(
        notebook, kernel_name="python3", resources=resources
    ).execute()


def shown_by(cell: nbformat.NotebookNode) -> list[str]:
    """What a cell of a notebook shows in words; of an error, what a page does.

    What is printed is one text, in however many messages a kernel sends it.
    """
    found, printing = [], False
    for output in cell.outputs:
        if output.output_type == "error":
            found.append(error_text.message(output.ename, output.evalue))
        elif output.get("name") != "stderr":
            text = output.get("text") or output.data.get("text/plain", "")
            text = error_text.without_places(text)
            if printing and output.get("name") == "stdout":
                found[-1] += text
            else:
                found.append(text)
        printing = output.get("name") == "stdout"
    return [text for text in found if text]


@pytest.mark.parametrize("name", RUN)
def test_a_notebook_shows_in_jupyter_what_its_page_shows(name, tmp_path, monkeypatch):
    made = nbformat.reads(notebook(taken(name)), as_version=4)
    nbformat.validate(made)
    run_in_jupyter(made, tmp_path / "notebook")
    page = v4.new_notebook()
    for cell in PAGES[name].cells:
        tags = {"tags": ["raises-exception"]} if cell.raises else {}
        source = "" if cell.fresh else cell.source  # which runs in a Python of its own
        page.cells.append(v4.new_code_cell(source, metadata=tags))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, DOCS))))
    run_in_jupyter(page, tmp_path / "page")
    ours = {cell.id: cell for cell in made.cells}
    for cell, there in zip(PAGES[name].cells, page.cells, strict=True):
        if cell.visible and not cell.fresh and not cell.varies:
            here = ours[f"cell{cell.number}"]
            assert shown_by(here) == shown_by(there), cell.source
