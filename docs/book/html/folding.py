"""What is folded on a page: setups, outputs, and the checks under what they prove.

A folded part is a `<details>`: it opens without a script and from the keyboard, and its
name is the text that one sees. MyST-NB's own gives every one the same name.
"""

from __future__ import annotations

from itertools import groupby

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx


def _check(node: nodes.Node) -> bool:
    return (
        isinstance(node, nodes.container)
        and node.get("nb_element") == "cell_code"
        and "check" in node["cell_metadata"]
    )


def fold_checks(app: Sphinx, doctree: nodes.document) -> None:
    """Fold checks that follow each other into one line that counts them."""
    for parent in {id(n.parent): n.parent for n in doctree.findall(_check)}.values():
        children = []
        for is_check, run in groupby(parent.children, _check):
            found = list(run)
            children += [_folded(found)] if is_check else found
        parent.children = []
        parent.extend(children)


def _folded(checks: list[nodes.container]) -> HideCodeCellNode:
    count = sum(cell["cell_metadata"]["check"] for cell in checks)
    words = "1 check" if count == 1 else f"{count} checks"
    return HideCodeCellNode(
        "",
        *checks,
        prompt_show=words,
        prompt_hide=words,
        classes=["checks", "no-search"],
    )


def _open(self, node: HideCodeCellNode) -> None:
    self.body.append(self.starttag(node, "details", CLASS="folded"))
    closed, opened = map(self.encode, (node["prompt_show"], node["prompt_hide"]))
    text = f'<span class="closed">{closed}</span><span class="opened">{opened}</span>'
    self.body.append(f"<summary>{closed if closed == opened else text}</summary>\n")


def _close(self, node: HideCodeCellNode) -> None:
    self.body.append("</details>\n")


def replace(app: Sphinx) -> None:
    """Take the place of MyST-NB's writer, which is there by now."""
    app.add_node(HideCodeCellNode, override=True, html=(_open, _close))
