"""The program that a lesson lists in full, to download as a script and as a notebook.

It is a file of `examples/`.  `# %%` begins a cell of code there, and `# %% [markdown]`
a text; so the notebook needs no other source.
"""

from __future__ import annotations

import ast
import posixpath
import re
from html import escape
from itertools import takewhile
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _

from book.exports.notebook import CodeCell, notebook
from book.files import write_changed_remove_rest
from book.source.chapters import LESSON
from book.source.model import Listing
from book.state import Book, PageState, book_of

FOLDER, ENDS = "_downloads/programs", (".py", ".ipynb")
_MARK = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)


def contents(program: str) -> list[str | CodeCell]:
    """The texts and the cells of code of a program, the text that it begins with first.

    A text ends where code begins, with or without a mark.
    """
    found: list[str | CodeCell] = []
    tree = ast.parse(program)
    if title := ast.get_docstring(tree):
        found.append(title)
        program = "\n".join(program.split("\n")[tree.body[0].end_lineno :])
    first, *rest = _MARK.split(program)
    cells = [("", first), *zip(rest[::2], rest[1::2], strict=True)]
    for is_text, cell in cells:
        lines = cell.strip("\n").split("\n")
        if is_text:
            text = list(takewhile(lambda line: line[:1] in ("#", ""), lines))
            lines = lines[len(text) :]
            shown = (line.removeprefix("#").removeprefix(" ") for line in text)
            found.append("\n".join(shown).strip())
        if code := "\n".join(lines).strip("\n"):
            found.append(CodeCell(f"code{len(found)}", code, code))
    return [one for one in found if one]


def offered(state: PageState, book: Book) -> dict[Listing, str]:
    """The programs that a page offers, and the names of their files, such as learn/one.

    Only a lesson has some: those that it lists in full, and that lie in the folder of
    `examples/` which is called as the lesson's own.
    """
    page = state.page
    if page is None or page.kind != LESSON:
        return {}
    folder = posixpath.dirname(page.name)
    there = (book.root / "examples" / folder).resolve()
    return {
        one: posixpath.join(folder, one.path.stem)
        for one in page.listings
        if one.path.parent == there
        and not one.pyobject
        and f"listing{one.number}" in state.programs
    }


def offer(app: Sphinx, doctree: nodes.document) -> None:
    """Below the listing of a lesson's program, put links to its files."""
    name = app.env.docname
    book = book_of(app)
    found = offered(book.state(name), book)
    names = {f"listing{one.number}": file for one, file in found.items()}
    for block in list(doctree.findall(nodes.literal_block)):
        for which in names.keys() & {*block["ids"]}:
            shown = block.parent if _has_caption(block.parent) else block
            at = shown.parent.index(shown) + 1
            shown.parent.insert(at, _links(names[which], posixpath.dirname(name)))


def _has_caption(parent: nodes.Element) -> bool:
    """Whether a block of code stands with its caption in a container of their own."""
    return isinstance(parent, nodes.container) and "literal_block" in parent


def _links(name: str, folder: str) -> nodes.raw:
    """A line that leads to the files of the program `name`, from a page in `folder`."""
    links = []
    for end in ENDS:
        path = posixpath.relpath(f"{FOLDER}/{name}{end}", folder or ".")
        file = escape(posixpath.basename(path))
        links.append(f'<a href="{quote(path)}" download>{file}</a>')
    said = escape(_("Download: {files}")).format(files=" · ".join(links))
    line = f'<p class="program-files">{said}</p>'
    return nodes.raw("", line, format="html", classes=["no-search"])


def write(app: Sphinx) -> None:
    """Write the files of each lesson's program; remove those of others."""
    folder, book = Path(app.outdir, FOLDER), book_of(app)
    wanted: dict[Path, str | None] = {}
    for state in book.written():
        for one, name in offered(state, book).items():
            program = state.programs[f"listing{one.number}"]
            with book.blame(state.name):
                wanted[folder / f"{name}.py"] = program
                wanted[folder / f"{name}.ipynb"] = notebook(contents(program))
    write_changed_remove_rest(
        [path for end in ENDS for path in folder.rglob(f"*{end}")], wanted
    )
