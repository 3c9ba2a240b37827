"""Below the first lesson with a marked type stands how to read the marks.

JAX writes `float32[8@data,4]{V:model}`; comments on types do, too.  A page whose own
text speaks of such a mark, above or right below, needs no word on it.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from book.execute.type_comments.parse import TYPE
from book.html import below
from book.source.model import Page

MARKS = {  # a mark, and what to say of it, with a *word* of docs/words.md
    r"(\d+)@([a-z]\w*)": "is an axis of length {0}, *sharded* over mesh axis `{1}`",
    r"(\d+)@(\([\w,]+\))": "is an axis of length {0}, *sharded* over mesh axes `{1}`",
    r"\{V:([^}]+)\}": (
        "marks a *varying* value, which may differ between devices along `{0}`"
    ),
    r"\{U:([^}]+)\}": "marks *unreduced* values, whose sum along `{0}` is due",
    r"~\w+\[.*?\]": "has a *weak type*, like a Python number",
}
_TYPED = re.compile(rf"#.*?({TYPE}.*)")
_PARTS = re.compile(r"(`[^`]+`|\*[^*]+\*)")


def first(page: Page) -> dict[int, list[str]]:
    """The cells below which marks are explained: the number of each, and sentences."""
    lessons = [cell for cell in page.cells if cell.visible]
    found: dict[int, list[str]] = {}
    for mark, says in MARKS.items():
        told = [n for n, line in page.prose if re.search(rf"`[^`]*{mark}", line)]
        for cell, following in zip(lessons, [*lessons[1:], None], strict=False):
            typed = "\n".join(_TYPED.findall(cell.source))
            if match := re.search(mark, typed):
                axes = (a.strip("()").replace(",", "` and `") for a in match.groups())
                if not told or (following and told[0] > following.line):
                    sentence = f"`{match[0]}` {says.format(*axes)}"
                    found.setdefault(cell.number, []).append(sentence)
                break
    return found


def show(app: Sphinx, doctree: nodes.document) -> None:
    """Put the marks of a page below the first lessons that have them."""
    state = app.book.state(app.env.docname)
    found = first(state.page) if state.page and not state.problems else {}
    texts = {n: f"In the comments, {'; '.join(said)}." for n, said in found.items()}
    below.put(doctree, {n: [_paragraph(text, app)] for n, text in texts.items()})


def _paragraph(text: str, app: Sphinx) -> nodes.paragraph:
    made = nodes.paragraph("", "", classes=["legend", "no-search"])
    for part in _PARTS.split(text):
        if part.startswith("`"):
            made += nodes.literal(part[1:-1], part[1:-1])
        elif part.startswith("*") and "words" in app.env.found_docs:
            options = {"refdomain": "std", "reftype": "term", "refexplicit": False}
            word = nodes.inline(part[1:-1], part[1:-1])
            link = addnodes.pending_xref("", word, reftarget=part[1:-1], **options)
            link["refdoc"] = app.env.docname
            made += link
        else:
            made += nodes.Text(part.strip("*"))
    return made
