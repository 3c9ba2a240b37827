"""Below the first lesson with a marked type stands how to read the marks.

JAX writes `float32[8@data,4]{V:model}`; comments on types do, too.  A page whose own
text speaks of such a mark, above or right below, needs no word on it.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.locale import _

from book.execute.type_comments.parse import TYPE
from book.source.model import Page
from book.state import PageState

MARKS = {  # a mark, and what to say of it, with a *word* of docs/words.md
    r"(\d+)@([a-z]\w*)": _(
        "`{0}` is an axis of length {1}, *sharded* over mesh axis `{2}`"
    ),
    r"(\d+)@(\([\w,]+\))": _(
        "`{0}` is an axis of length {1}, *sharded* over mesh axes `{2}`"
    ),
    r"\{V:([^}]+)\}": _(
        "`{0}` marks a *varying* value, which may differ between devices along `{1}`"
    ),
    r"\{U:([^}]+)\}": _("`{0}` marks *unreduced* values, whose sum along `{1}` is due"),
    r"~\w+\[.*?\]": _("`{0}` has a *weak type*, like a Python number"),
}
_TYPED = re.compile(rf"#.*?({TYPE}.*)")
_PARTS = re.compile(r"(`[^`]+`|\*[^*]+\*)")


def below_cells(
    app: Sphinx, state: PageState, page: Page
) -> dict[int, list[nodes.Node]]:
    """How to read the marks of a page, below the first lessons that have them."""
    said = _("In the comments, {sentences}.")
    return {
        number: [_paragraph(said.format(sentences=_("; ").join(sentences)), app)]
        for number, sentences in explained(page).items()
    }


def explained(page: Page) -> dict[int, list[str]]:
    """The cells below which marks are explained: the number of each, and sentences."""
    found: dict[int, list[str]] = {}
    lessons = [cell for cell in page.cells if cell.visible]
    for mark, meaning in MARKS.items():
        lines = [n for n, line in page.prose if re.search(rf"`[^`]*{mark}", line)]
        for cell, following in zip_longest(lessons, lessons[1:]):
            match = re.search(mark, "\n".join(_TYPED.findall(cell.source)))
            if match is None:
                continue
            if not lines or (following and lines[0] > following.line):
                between = f"`{_(' and ')}`"
                axes = [a.strip("()").replace(",", between) for a in match.groups()]
                sentence = str(meaning).format(match[0], *axes)
                found.setdefault(cell.number, []).append(sentence)
            break
    return found


def _paragraph(text: str, app: Sphinx) -> nodes.paragraph:
    """A paragraph with `code`, and links from *words* to the page of words."""
    made = nodes.paragraph("", "", classes=["legend", "no-search"])
    for part in _PARTS.split(text):
        inside, _bar, target = part[1:-1].partition("|")
        target = target or inside  # of a translated word, the English one
        if part.startswith("`"):
            made += nodes.literal(part[1:-1], part[1:-1])
        elif part.startswith("*") and "words" in app.env.found_docs:
            options = {"refdomain": "std", "reftype": "term", "refexplicit": False}
            word = nodes.inline(inside, inside)
            link = addnodes.pending_xref("", word, reftarget=target, **options)
            link["refdoc"] = app.env.docname
            made += link
        else:
            made += nodes.Text(inside if part.startswith("*") else part)
    return made
