"""What *Copy* gives runs where readers paste it: in a Python with one device.

All the code of a page runs in its order, as somebody has it who copies one cell after
the other, so the first cell also runs alone.  Cells that take something from
`examples/`, such as an exercise's `check`, are not pasted; *Copy runnable* has that.
"""

import re
from pathlib import Path

import pytest

from book.source.model import Cell, Page
from tests.house.book import Book
from tests.page_output import caught

BOOK = Book(Path(__file__).parent.parent)
LIMIT = 300  # seconds after which a program hangs
TAKES = re.compile(r"^(from|import) examples\b", re.MULTILINE)


def pasted(page: Page) -> list[Cell]:
    """The cells of a page that are copied as they are shown."""
    return [
        cell
        for cell in page.cells
        if cell.visible and not cell.fresh and not TAKES.search(cell.source)
    ]


def program(cells: list[Cell]) -> str:
    """The cells in order; one that raises does so, and the next one follows."""
    code = [
        caught(cell.source.rstrip(), cell.raises) if cell.raises else cell.source
        for cell in cells
    ]
    return "\n".join(code) + "\n"


PAGES = [name for name in BOOK.page_names if pasted(BOOK.page(name))]


@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_page_runs_where_it_is_pasted_cell_by_cell(launcher, name):
    code = program(pasted(BOOK.page(name)))
    ended = launcher.finish(code, LIMIT)
    assert ended.code == 0, f"{code}\n{ended.err}"
