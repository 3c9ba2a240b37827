"""Every cell and every listing can be copied as a program that runs alone.

`build` cuts the programs and the test session runs each of them in an empty folder;
here they are put into the page, for its *copy runnable* button.
"""

from __future__ import annotations

import html
from importlib.metadata import version

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.directives.code import LiteralInclude


class Listing(LiteralInclude):
    """`literalinclude` that remembers which listing of the page it is."""

    def run(self) -> list[nodes.Node]:
        """Include the file and leave a mark for `_attach` behind the listing."""
        found = super().run()
        if found and not isinstance(found[0], nodes.system_message):
            found.append(nodes.raw("", "", format="html", classes=["listing-mark"]))
            found[-1]["line"] = self.lineno
        return found


def _attach(app: Sphinx, doctree: nodes.document) -> None:
    """Put each program beside the code that it runs."""
    name = app.env.docname
    book = app.book
    programs = book.snippets.get(name, {})
    for cell in list(doctree.findall(nodes.container)):
        if cell.get("nb_element") == "cell_code":
            program = programs.get(f"cell{cell['cell_metadata'].get('number')}")
            inputs = [c for c in cell.children if "cell_input" in c.get("classes", [])]
            if program and inputs:
                inputs[0].append(_template(program))
    marks = [n for n in doctree.findall(nodes.raw) if "listing-mark" in n["classes"]]
    page = book.pages.get(name)
    for mark, listing in zip(marks, page.listings if page else (), strict=False):
        program = programs.get(f"listing{listing.number}")
        if program:
            mark.replace_self(_template(program))
        else:
            mark.parent.remove(mark)


def _template(program: str) -> nodes.raw:
    text = f'<template class="runnable">{html.escape(program)}</template>'
    return nodes.raw("", text, format="html")


def setup(app: Sphinx) -> dict:
    """Replace `literalinclude` and attach programs to what has been read."""
    app.add_directive("literalinclude", Listing, override=True)
    app.connect("doctree-read", _attach)
    return {"version": version("sphinx"), "parallel_read_safe": True}
