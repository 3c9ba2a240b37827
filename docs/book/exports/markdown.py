"""Each page as plain Markdown with its outputs, and a list of all: `llms.txt`.

They are for programs that read the book, and for readers without a browser: lessons
with what they print, no checks, and of a figure what a screen reader says of it.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from sphinx.application import Sphinx

from book.exports import directives
from book.exports.beside_pages import beside_pages, unchanged
from book.exports.prose import Prose, Says, silent
from book.files import renew
from book.source.chapters import plain
from book.source.page import Cell, Page
from book.state import PageState

END, INDEX = ".md", "llms.txt"
_PAINTED = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)


def markdown(page: Page, outputs: list[list[dict]], says: Says = silent) -> str:
    """The text of `page`, and the `outputs` of its cells below them.

    `says` knows what the book's directives list.
    """
    prose = Prose(page.name, page.path, keeps=True, says=says)
    made = []
    for piece in page.pieces():
        if not isinstance(piece, Cell):
            made.append(prose.markdown(piece[1]))
            continue
        if piece.visible:
            made.append(_fenced(piece.source, "python"))
        if not piece.check:
            shown = outputs[piece.number - 1] if outputs else ()
            made += [text for one in shown if (text := _output(one))]
    return "\n\n".join(filter(None, made)) + "\n"


def _output(output: dict) -> str:
    """What a reader sees of an output; nothing of one that only a browser shows."""
    data = output.get("data", {})
    if words := data.get("text/markdown"):
        return "".join(words).strip()
    painted = "".join(data.get("image/svg+xml", "") or data.get("text/html", ""))
    if found := _PAINTED.search(painted):
        return f"[Figure: {html.unescape(found[1]).strip()}]"
    text = output.get("text") or ("" if painted else data.get("text/plain", ""))
    return _fenced("".join(text), "text") if text else ""


def _fenced(text: str, language: str) -> str:
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    marks = "`" * (longest + 1)
    return f"{marks}{language}\n{text.strip()}\n{marks}"


def index(pages: dict[str, Page], root: str, title: str) -> str:
    """The list of all pages, by chapters, in the order of the book."""
    lines = [f"# {title}", ""]

    def add(name: str, level: int) -> None:
        page = pages.pop(name, None)
        if page is None:
            return
        inside = [one for one in page.toctree if one in pages]
        if inside and level:
            lines.extend(["", f"## {page.short or page.title}", ""])
        lines.append(f"- [{plain(page.title)}]({name}{END})")
        for one in inside:
            add(one, level + 1)

    add(root, 0)
    return "\n".join(lines) + "\n"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the Markdown of each page beside it, and the list; sweep what is gone."""
    if exception is not None or app.builder.format != "html":
        return
    out, book = Path(app.outdir), app.book
    pages, root = {page.name: page for page in book.pages()}, app.config.root_doc
    kept = unchanged(app, (END,))
    wanted = {out / (name + END): None for name in kept}
    for name, page in pages.items():
        if name in kept:
            continue
        with book.blame(name):
            shown, made = _shown(book.states.get(name)), directives.by(book, root, page)
            wanted[out / (name + END)] = markdown(page, shown, made)
    wanted[out / INDEX] = index(dict(pages), root, app.config.project)
    renew(beside_pages(out, (END,)), wanted)


def _shown(state: PageState | None) -> list[list[dict]]:
    return state.entry.outputs if state and state.entry and not state.problems else []
