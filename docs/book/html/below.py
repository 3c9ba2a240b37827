"""What the book adds to a page stands right below the cell that it is about."""

from __future__ import annotations

from docutils import nodes


def put(doctree: nodes.document, found: dict[int, list[nodes.Node]]) -> None:
    """Put nodes below the cells of a page: the number of a cell -> what follows it."""
    for cell in list(doctree.findall(nodes.container)):
        number = cell.get("cell_metadata", {}).get("number")
        if cell.get("nb_element") == "cell_code" and number in found:
            at = cell.parent.index(cell) + 1
            cell.parent[at:at] = found[number]
