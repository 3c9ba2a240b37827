"""The programs that the copy buttons of a page copy: one for each cell and listing.

Each runs alone; the build has made them, and the tests run each in an empty folder.
One that would run and print nothing, as a definition does, is copied to be used, and
its button says so.  Code on a page gets the name of its program as an id.  The programs
of a page are a script, which `book.js` loads at the first click: a classic script,
because a page opened from a folder may load nothing else.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from book.files import write_changed_remove_rest
from book.snippets.vocabulary import DEFS
from book.source.model import Page
from book.state import book_of


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Give code that has a program its name, and classes: `runnable`, `silent`."""
    state = book_of(app).state(app.env.docname)
    blocks, raising = cells(doctree), set()
    if state.page:
        blocks |= listings(doctree, state.page)
        raising = {f"cell{cell.number}" for cell in state.page.cells if cell.raises}
    for which, block in blocks.items():
        program = state.programs.get(which)
        if program is not None:
            block["ids"].append(which)
            block["classes"].append("runnable")
            if which not in raising and not prints(program):
                block["classes"].append("silent")


def cells(doctree: nodes.document) -> dict[str, nodes.Element]:
    """The cells of a page, by the names of their programs."""
    found: dict[str, nodes.Element] = {}
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") == "cell_code":
            found[f"cell{node['cell_metadata'].get('number')}"] = node
    return found


def listings(doctree: nodes.document, page: Page) -> dict[str, nodes.Element]:
    """The files that a page lists, by the names of their programs."""
    included = [
        block
        for block in doctree.findall(nodes.literal_block)
        if block.get("source") and block["source"] != doctree["source"]
    ]
    found: dict[str, nodes.Element] = {}
    for listing in page.listings:
        for block in included:
            if Path(block["source"]).resolve() == listing.path:
                found[f"listing{listing.number}"] = block
                included.remove(block)
                break
    return found


def prints(program: str) -> bool:
    """Whether whoever runs `program` sees something: it prints, and not in vain."""
    tree = ast.parse(program)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {ast.unparse(call.func).split(".")[-1] for call in calls}
    return "print" in called and not isinstance(tree.body[-1], DEFS)


def write(app: Sphinx) -> None:
    """Write the programs of each page, and remove those of pages that are gone."""
    folder = Path(app.outdir, "_static", "programs")
    wanted: dict[Path, str | None] = {}
    for state in book_of(app).written():
        if state.programs:
            text = f"var programs = {json.dumps(state.programs, indent=0)};\n"
            wanted[folder / f"{state.name}.js"] = text
    write_changed_remove_rest(folder.rglob("*.js"), wanted)
