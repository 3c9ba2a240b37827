"""What is folded on a page: setups, outputs, and the checks under what they prove.

A folded part is a `<details>`: it opens without a script and from the keyboard, and its
name is the text that one sees.  MyST-NB's own gives every one the same name.
"""

from __future__ import annotations

from itertools import groupby

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode  # its class of what `hide-input` folds
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator


class folded(nodes.General, nodes.Element):
    """A folded part of a page; `closed` and `opened` are its names while it is so."""


def fold(title: str, *parts: nodes.Node, classes: list[str]) -> folded:
    """Fold `parts` under a title."""
    return folded("", *parts, closed=title, opened=title, classes=classes)


def visit_folded(translator: HTML5Translator, node: folded) -> None:
    """Begin the `<details>`; where it has two names, the stylesheet shows one."""
    translator.body.append(translator.starttag(node, "details", CLASS="folded"))
    closed, opened = map(translator.encode, (node["closed"], node["opened"]))
    title = closed
    if closed != opened:
        title = f'<span class="closed">{closed}</span>'
        title += f'<span class="opened">{opened}</span>'
    translator.body.append(f"<summary>{title}</summary>\n")


def depart_folded(translator: HTML5Translator, node: folded) -> None:
    """End the `<details>`."""
    translator.body.append("</details>\n")


class FoldHiddenCells(SphinxPostTransform):
    """Makes a `folded` of what MyST-NB folds: what a cell's tags hide."""

    default_priority = 200  # MyST-NB's, which makes its nodes, has 199
    formats = ("html",)

    def run(self, **_options: object) -> None:
        """Replace MyST-NB's nodes, which do not all know their parents."""
        for parent in list(self.document.findall(nodes.container)):
            for number, child in enumerate(parent.children):
                if isinstance(child, HideCodeCellNode):
                    parent[number] = folded(
                        "",
                        *child.children,
                        closed=_said(child["prompt_show"]),
                        opened=_said(child["prompt_hide"]),
                        classes=child["classes"],
                    )


def _said(prompt: str) -> str:
    """The name of a folded cell; MyST-NB's own, which are English, are translated."""
    own = {
        "Show code cell source": _("Show code cell source"),
        "Hide code cell source": _("Hide code cell source"),
        "Show code cell output": _("Show code cell output"),
        "Hide code cell output": _("Hide code cell output"),
        "Show code cell content": _("Show code cell content"),
        "Hide code cell content": _("Hide code cell content"),
    }
    return own.get(prompt, prompt)


def fold_checks(app: Sphinx, doctree: nodes.document) -> None:
    """Fold checks that follow each other into one line that counts them."""
    parents = {id(node.parent): node.parent for node in doctree.findall(_is_check)}
    for parent in parents.values():
        children: list[nodes.Node] = []
        for is_check, several in groupby(parent.children, _is_check):
            cells = list(several)
            children += [_folded_checks(cells)] if is_check else cells
        parent.children = []
        parent.extend(children)


def _folded_checks(cells: list[nodes.Element]) -> folded:
    """Checks under a line that says how much they assert."""
    count = sum(cell["cell_metadata"]["check"] for cell in cells)
    title = _("1 check") if count == 1 else _("{count} checks").format(count=count)
    return fold(title, *cells, classes=["checks", "no-search"])


def _is_check(node: nodes.Node) -> bool:
    """Whether the node is a cell that only proves what others show."""
    return (
        isinstance(node, nodes.container)
        and node.get("nb_element") == "cell_code"
        and "check" in node["cell_metadata"]
    )
