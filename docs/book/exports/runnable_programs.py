"""Every cell and every listing can be copied as a program that runs alone.

`build` cuts the programs and the test session runs each of them in an empty folder.
One that would run and print nothing, as a definition does, is copied to be used, and
its button says so.
Here the code on a page gets the name of its program, as an id, and the programs of a
page go into a script of their own, which `book.js` loads at the first click: a classic
script, because a page opened from a folder may load nothing else.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from book.files import write_changed_remove_rest
from book.snippets.vocabulary import DEFS


def name(app: Sphinx, doctree: nodes.document) -> None:
    """Give code that has a program its name, and classes: `runnable`, `silent`."""
    state = app.book.state(app.env.docname)
    programs = state.programs
    blocks = {}
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code":
            blocks[f"cell{cell['cell_metadata'].get('number')}"] = cell
    included = [
        block
        for block in doctree.findall(nodes.literal_block)
        if block.get("source") and block["source"] != doctree["source"]
    ]
    for listing in state.page.listings if state.page else ():
        for block in included:
            if Path(block["source"]).resolve() == listing.path:
                blocks[f"listing{listing.number}"] = block
                included.remove(block)
                break
    for which, block in blocks.items():
        if which in programs:
            block["ids"].append(which)
            block["classes"].append("runnable")
            if not prints(programs[which]):
                block["classes"].append("silent")


def prints(program: str) -> bool:
    """Whether one sees something who runs `program`: it prints, and not in vain."""
    body = ast.parse(program).body
    calls = (n for one in body for n in ast.walk(one) if isinstance(n, ast.Call))
    said = any(ast.unparse(call.func).split(".")[-1] == "print" for call in calls)
    return said and not isinstance(body[-1], DEFS)


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the programs of each page, and remove those of pages that are gone."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static", "programs")
    wanted = {
        folder
        / f"{name}.js": f"var programs = {json.dumps(state.programs, indent=0)};\n"
        for name, state in app.book.states.items()
        if state.programs
    }
    write_changed_remove_rest(folder.rglob("*.js"), wanted)
