"""What the site's search knows of each section: its heading, and what it answers.

Sphinx's index knows the words of a page.  Readers ask in words of their own, so pages
list the questions that they answer, in the front matter (`answers:`, and `short`, the
name of a page in the sidebar).  `synonyms.toml` has what other libraries and languages
call the same.  Headings, questions and synonyms go into `_static/sections.js`,
which `docs/_static/search.js` reads beside Sphinx's own index: a classic script, for a
page that was opened from a folder can load nothing else.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search.en import SearchEnglish

from book.files import write_changed_remove_rest
from book.source.model import Page
from book.state import book_of

FILE, SYNONYMS = "_static/sections.js", "synonyms.toml"
_WORDS = SearchEnglish({})


def leave_out_figures(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Keep Sphinx from indexing the words that stand in figures."""
    for raw in doctree.findall(nodes.raw):
        if "<svg" in raw.astext():
            raw["classes"].append("no-search")


def write(app: Sphinx) -> None:
    """Write the sections of all pages, as a script that sets `sections`."""
    pages = {
        page.name: sections(page, app.env)
        for page in book_of(app).pages()
        if book_of(app).writes(page.name)
    }
    told = {"sections": pages, "synonyms": synonyms(Path(app.srcdir))}
    text = "".join(f"var {name} = {_script(value)};\n" for name, value in told.items())
    write_changed_remove_rest((), {Path(app.outdir, FILE): text})


def synonyms(docs: Path) -> dict[str, dict[str, str]]:
    """What `synonyms.toml` has: `words` for others, and the `first` page of a query.

    A book without that file has neither.
    """
    file = docs / SYNONYMS
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _script(value: object) -> str:
    """A value as JavaScript has it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sections(page: Page, env: BuildEnvironment) -> list[list[str]]:
    """The sections of a page in order: its anchor, its heading, words of questions.

    The first is the page itself, whose anchor is empty.  "#" stands for one that
    `_anchor` makes of the heading, as `search.js` does: nearly all, and half the file.
    """
    title = next((h.slug for h in page.headings if h.level == 1), "")
    asked: dict[str, list[str]] = {}
    if page.short:
        asked[_plain(title)] = [_words(page.short)]
    for answer in page.answers:
        asked.setdefault(_plain(answer.at), []).append(_words(answer.question))
    found = []
    for link in env.tocs[page.name].findall(nodes.reference):
        heading, anchor = link.astext(), link["anchorname"].removeprefix("#")
        # What is translated has the anchor of the English.
        keys = dict.fromkeys([_plain(heading), _plain(anchor or title)])
        if not anchor:
            heading = env.titles[page.name].astext()  # there, the sidebar's short one
        elif anchor == _anchor(heading):
            anchor = "#"
        questions = [one for key in keys for one in asked.pop(key, [])]
        found.append([anchor, heading, *questions])
    return found


def _anchor(heading: str) -> str:
    """The usual anchor of a heading."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def _words(question: str) -> str:
    """The words of a question that tell something, in their order."""
    words = _WORDS.split(question.lower())
    return " ".join(word for word in words if word not in _WORDS.stopwords)


def _plain(text: str) -> str:
    """A heading, or an anchor that anybody made of it, in a form that both have."""
    return re.sub(r"[^a-z0-9]", "", text.lower())
