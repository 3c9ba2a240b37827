"""The pages of `tests/slices`: each program runs alone and holds no more than it needs.

A page that breaks the rule of the book, *a cell changes only what it made*, is refused.
"""

from pathlib import Path

import pytest

from book.snippets.slicer import SliceError, Slicer
from tests.snippets.slices import FOLDER, cells_of

PAGES = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_a_program_holds_what_it_needs(launcher, path: Path):
    page, _, refused = path.read_text(encoding="utf-8").partition("\n===\n")
    cells = cells_of(page)
    if refused:
        with pytest.raises(SliceError) as error:
            Slicer((FOLDER,)).page(cells)
        assert str(error.value) == " ".join(refused.split())
        return
    program = Slicer((FOLDER,)).page(cells).program(cells[-1])
    code, said = launcher.run(program, limit=60)
    assert code == 0, f"{program}\n{said}"
    assert "no_" not in program
