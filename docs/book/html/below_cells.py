"""What the book adds below the cells of a page, and in which order it stands there."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from book.html import error_links, exercise_mistakes, release_diff, type_legend
from book.state import book_of

# Each returns what to put below cells: the number of a cell -> nodes.
PARTS = (
    exercise_mistakes.below_cells,
    release_diff.below_cells,
    type_legend.below_cells,
    error_links.below_cells,
)


def put(app: Sphinx, doctree: nodes.document) -> None:
    """Put below each cell what there is to say of it; of a page that failed nothing."""
    state = book_of(app).state(app.env.docname)
    if state.page is None or state.problems:
        return
    found = [make(app, state, state.page) for make in PARTS]
    for cell in list(doctree.findall(nodes.container)):
        if cell.get("nb_element") == "cell_code":
            number = cell["cell_metadata"].get("number")
            at = cell.parent.index(cell) + 1
            cell.parent[at:at] = [node for one in found for node in one.get(number, ())]
