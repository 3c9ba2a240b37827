"""Which cell is an exercise, and which mistakes an exercise knows."""

import pytest

from book.source.exercises import mistakes
from book.source.model import Cell

CHECK = "from examples.exercises.by_hand import check"


@pytest.mark.parametrize(
    ("cell", "exercise"),
    [
        (Cell(1, 1, f"{CHECK}\n\ncheck(...)"), "by_hand"),
        (
            Cell(1, 1, "from examples.exercises.by_hand import check, solution"),
            "by_hand",
        ),
        (Cell(1, 1, CHECK, check=True), None),  # it proves something, out of sight
        (Cell(1, 1, CHECK, tags=frozenset({"remove-input"})), None),
        (Cell(1, 1, "from examples.exercises.by_hand import checked"), None),
        (Cell(1, 1, "def check(f):\n    return f\n\ncheck(abs)"), None),
    ],
)
def test_a_cell_that_imports_check_in_view_is_an_exercise(cell, exercise):
    assert cell.exercise == exercise


def test_mistakes_are_found_with_the_first_paragraph_of_what_they_say():
    source = '''
def solution(x):
    """Not a mistake."""

def mistake_adds(x):
    """You added
    two.

    More of this.
    """

def mistake_is_silent(x):
    return x
'''
    assert mistakes(source) == {"adds": "You added two.", "is_silent": ""}
