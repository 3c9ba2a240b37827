"""Writes Markdown from a page as Sphinx has read it: a tree of nodes, links resolved.

A node of a kind that is not named here is written as what it contains, so no role or
directive comes out as its source.  Checks are left out; of a figure there is its text
alternative.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from docutils import nodes
from sphinx.locale import _

from book.html.folding import folded

_FIGURE_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)
_SPECIAL = re.compile(
    r"""[\\`]                          # code
      | (?<!\s)\* | \*(?!\s)            # emphasis, and of _ only around words
      | (?<![^\W_])_+ | _+(?![^\W_])
      | \](?=[(\[:]) | \[(?=\^)          # a link, a footnote
      | <(?=[a-zA-Z/!?])               # HTML
    """,
    re.VERBOSE,
)
_LIST_MARKER = re.compile(r"^(\d*)([-+*#>.)])(?=\s)", re.MULTILINE)
# The quotes of prose, which Sphinx curls, as they were typed.
_TYPED = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'}
_OUTPUT = {"myst-ansi": "text", "none": "text", "default": ""}
_SKIPPED = (nodes.Invisible, nodes.system_message, nodes.label)


@dataclass(frozen=True)
class Part:
    """The Markdown of a code cell and its outputs, or of the text between two cells.

    `cell` counts the cells of the page from 1; None for text.
    """

    text: str
    cell: int | None = None


def fenced(text: str, language: str) -> str:
    """`text` as a block of code."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    marks = "`" * (longest + 1)
    text = text.strip("\n").rstrip()
    return f"{marks}{language}\n{text}\n{marks}"


class MarkdownWriter:
    """Writes the nodes of one page as Markdown.

    `link` is given the address of a link within the book, relative to the page's
    HTML, and returns what it becomes, or "" to leave only the words of the link.
    """

    def __init__(self, link: Callable[[str], str]):
        self.link = link
        self.notes: dict[str, str] = {}  # footnotes, by number, to be written

    def parts(self, document: nodes.document) -> list[Part]:
        """The texts and the cells of a page, in their order."""
        found: list[Part] = []
        for node, level in _flat(document, 0):
            if isinstance(node, nodes.title):
                text = f"{'#' * level} {_one_line(self.inline(node))}"
            else:
                text = self.block(node)
            notes = [f"[^{number}]: {note}" for number, note in self.notes.items()]
            text = "\n\n".join(filter(None, [text, *notes]))
            self.notes = {}
            if _is_cell(node):
                found.append(Part(text, node["cell_metadata"]["number"]))
            elif text and found and found[-1].cell is None:
                found[-1] = Part(f"{found[-1].text}\n\n{text}")
            elif text:
                found.append(Part(text))
        return found

    # -- blocks -----------------------------------------------------------------
    def blocks(self, children: Iterable[nodes.Node]) -> str:
        """Blocks with an empty line between them."""
        return "\n\n".join(filter(None, map(self.block, children)))

    def block(self, node: nodes.Node) -> str:
        """The Markdown of a node that stands on lines of its own."""
        if isinstance(node, _SKIPPED):
            return ""
        write = getattr(self, f"_block_{type(node).__name__}", None)
        if write:
            return write(node)
        if isinstance(node, nodes.Admonition):
            return f"**{type(node).__name__.title()}**\n\n{self.blocks(node.children)}"
        if isinstance(node, nodes.TextElement | nodes.Inline | nodes.Text):
            return self.inline(node).strip()
        return self.blocks(node.children)

    def _block_paragraph(self, node: nodes.paragraph) -> str:
        return _LIST_MARKER.sub(r"\1\\\2", self.inline(node)).strip()

    def _block_container(self, node: nodes.container) -> str:
        if _is_cell(node):
            return self._cell(node)
        if "sd-card-title" in node["classes"]:
            return self._bold(node)
        return self.blocks(node.children)

    def _cell(self, node: nodes.container) -> str:
        if "check" in node["cell_metadata"]:
            return ""
        found: list[nodes.Node] = []
        for child in node.children:
            if isinstance(child, folded):  # only to save space
                found += child.children
            else:
                found.append(child)
        return self.blocks(found)

    def _bold(self, node: nodes.Element) -> str:
        return f"**{_one_line(self.inline(node))}**"

    _block_title = _block_rubric = _block_term = _block_sd_tab_label = _bold

    def _block_admonition(self, node: nodes.admonition) -> str:
        return self.blocks(node.children)  # its title is among them

    def _block_literal_block(self, node: nodes.literal_block) -> str:
        language = node.get("language", "")
        return fenced(node.astext(), _OUTPUT.get(language, language))

    def _block_transition(self, node: nodes.transition) -> str:
        return "" if "footnotes" in node["classes"] else "---"

    def _block_footnote(self, node: nodes.footnote) -> str:
        text = self.blocks(node.children)
        return f"[^{node.children[0].astext()}]: {_indented(text, 4)}"

    def _block_block_quote(self, node: nodes.block_quote) -> str:
        lines = self.blocks(node.children).splitlines()
        return "\n".join(f"> {line}".rstrip() for line in lines)

    def _block_bullet_list(self, node: nodes.bullet_list) -> str:
        return self._list(node, ["- "] * len(node))

    def _block_enumerated_list(self, node: nodes.enumerated_list) -> str:
        first = node.get("start", 1)
        return self._list(node, [f"{first + n}. " for n in range(len(node))])

    def _list(self, node: nodes.Element, markers: list[str]) -> str:
        tight = all(_is_tight(item) for item in node.children)
        between = "\n" if tight else "\n\n"
        items = []
        for item, marker in zip(node.children, markers, strict=True):
            text = between.join(filter(None, map(self.block, item.children)))
            items.append(marker + _indented(text, len(marker)))
        return between.join(items)

    def _block_table(self, node: nodes.table) -> str:
        rows = [[*row.children] for row in node.findall(nodes.row)]
        numbers = ["text-right" in entry["classes"] for entry in rows[-1]]
        rule = ["---:" if number else "---" for number in numbers]
        texts = [[self._table_cell(entry) for entry in row] for row in rows]
        lines = [f"| {' | '.join(row)} |" for row in [texts[0], rule, *texts[1:]]]
        captions = [self._bold(title) for title in node.findall(nodes.title)]
        return "\n\n".join([*captions, "\n".join(lines)])

    def _table_cell(self, entry: nodes.entry) -> str:
        written = []
        for child in entry.children:
            is_text = isinstance(child, nodes.paragraph)
            written.append(self.inline(child) if is_text else self.block(child))
        text = _one_line("<br>".join(written))
        return re.sub(r"(?<!\\)\|", r"\|", text)

    def _block_folded(self, node: folded) -> str:
        return _details(escape(node["closed"]), self.blocks(node.children))

    def _block_dropdown_main(self, node: nodes.Element) -> str:  # of sphinx-design
        title, *body = node.children
        return _details(_one_line(self.inline(title)), self.blocks(body))

    # -- within a line ----------------------------------------------------------
    def inline(self, node: nodes.Node) -> str:
        """The Markdown of a node that stands in a line."""
        if isinstance(node, _SKIPPED):
            return ""
        write = getattr(self, f"_inline_{type(node).__name__}", None)
        if write:
            return write(node)
        return "".join(map(self.inline, node.children))

    def _inline_Text(self, node: nodes.Text) -> str:
        return escape(node.astext().translate(_TYPED))

    def _inline_literal(self, node: nodes.literal) -> str:
        text = node.astext()
        if "kbd" in node["classes"]:
            return escape(text)
        runs = {len(run) for run in re.findall("`+", text)}
        marks = next("`" * n for n in range(1, len(runs) + 2) if n not in runs)
        pad = " " if text.startswith("`") or text.endswith("`") else ""
        return f"{marks}{pad}{text}{pad}{marks}"

    def _inline_emphasis(self, node: nodes.emphasis) -> str:
        return f"*{''.join(map(self.inline, node.children))}*"

    def _inline_strong(self, node: nodes.strong) -> str:
        return f"**{''.join(map(self.inline, node.children))}**"

    def _inline_reference(self, node: nodes.reference) -> str:
        shown = "".join(map(self.inline, node.children))
        target = node.get("refuri") or f"#{node.get('refid', '')}"
        if "#term-" in target:
            return shown  # a word of the glossary would be a link in every sentence
        if node.get("internal") or target.startswith("#"):
            target = self.link(target)
        return f"[{shown}]({target})" if target else shown

    def _inline_image(self, node: nodes.image) -> str:
        return _figure(node.get("alt", ""))

    def _inline_raw(self, node: nodes.raw) -> str:
        text = node.astext()
        if "html" not in node["format"].split():
            return ""
        if text.startswith("<br"):
            return "<br>"
        found = _FIGURE_TITLE.search(text)
        return _figure(html.unescape(found[1])) if found else ""

    def _inline_footnote_reference(self, node: nodes.footnote_reference) -> str:
        return f"[^{node.astext()}]"

    def _inline_SideNoteNode(self, node: nodes.Element) -> str:  # of the theme
        return f"[^{node.astext()}]"

    def _inline_inline(self, node: nodes.inline) -> str:
        if "sidenote" not in node["classes"]:
            return "".join(map(self.inline, node.children))
        number, *text = node.children  # the theme puts a footnote where it is named
        self.notes[number.astext()] = "".join(map(self.inline, text))
        return ""


def escape(text: str) -> str:
    """`text` as Markdown that shows it as it is."""
    return _SPECIAL.sub(lambda found: "".join(f"\\{c}" for c in found[0]), text)


def _flat(node: nodes.Element, level: int) -> Iterable[tuple[nodes.Element, int]]:
    """What stands in a page and its sections, and in how many of them."""
    for child in node.children:
        if isinstance(child, nodes.section):
            yield from _flat(child, level + 1)
        elif isinstance(child, folded) and next(child.findall(_is_cell), None):
            yield from _flat(child, level)
        elif isinstance(child, nodes.Element):
            yield child, level


def _is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and "cell_metadata" in node


def _is_tight(item: nodes.Element) -> bool:
    """Whether an item of a list has a line, and at most lists below it."""
    lists = (nodes.bullet_list, nodes.enumerated_list)
    return all(isinstance(below, lists) for below in item.children[1:])


def _figure(alternative: str) -> str:
    text = _one_line(alternative.strip())
    return _("[Figure: {text}]").format(text=text) if text else ""


def _details(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _indented(text: str, width: int) -> str:
    """`text` with all lines but the first `width` spaces further in."""
    return re.sub(r"\n(?=[^\n])", "\n" + " " * width, text)


def _one_line(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text)
