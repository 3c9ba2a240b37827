"""How the pages of `tests/slices` are written: cells with `---` between them.

The program is the last cell's, and its assertions say what it needs; what it does not
need has `no_` in it.  After `===` stands how the slicer refuses the page.
"""

from pathlib import Path

from book.source.model import Cell

FOLDER = Path(__file__).parent.parent / "slices"


def cells_of(page: str, raises: str | None = None) -> list[Cell]:
    """The cells of a page; the last one declares `raises`."""
    sources = page.rstrip("\n").split("\n---\n")
    last = len(sources)
    return [
        Cell(number, number, source, raises=raises if number == last else None)
        for number, source in enumerate(sources, 1)
    ]
