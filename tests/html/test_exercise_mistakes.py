"""Below an exercise stands which mistakes its `check` recognizes."""

import pytest

from tests.conftest import Book

EXERCISE = '''"""Double a number."""


def solution(x):
    """Return it."""
    return 2 * x


def check(make):
    """Raise unless `make` doubles."""
    assert make(3) == 6, "three doubled is six"


def mistake_squares(x):
    """Take `x * x` for it, which two hides.

    More of this.
    """
    return x * x


def mistake_adds(x):
    """Add two."""
    return x + 2
'''
SAID = """{"double": {"squares": "three doubled is six; %s"}}""" % ("more " * 60)
CELL = ':raises: "AssertionError: three"\nfrom examples.exercises.double import check\n'


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The HTML of a page with an exercise."""
    book = Book(tmp_path_factory.mktemp("book"))
    book.write("examples/exercises/double.py", EXERCISE)
    book.write("examples/exercises/said.json", SAID)
    book.page("page", CELL + "\ncheck(lambda x: ...)", "x = 1\nx")
    built = book.build()
    assert built.code == 0, built.said
    return book.text("page")


def test_each_mistake_says_what_a_learner_thought(page):
    [folded] = [part for part in page.split("<details")[1:] if "mistakes" in part[:60]]
    folded = folded.partition("</details>")[0]
    assert "<summary>2 mistakes that check recognizes</summary>" in folded
    assert folded.count("<li>") == 2
    assert "Add two." in folded and "More of this" not in folded
    assert '<code class="docutils literal' in folded and "`" not in folded


def test_it_stands_below_the_exercise(page):
    first, second = page.index('id="cell1"'), page.index('id="cell2"')
    assert first < page.index("2 mistakes that") < second


def test_below_a_mistake_stands_what_check_says_of_it(page):
    says = page.partition('<p class="says">')[2].partition("</p>")[0]
    assert says.startswith("check says: three doubled is six; more")
    assert says.endswith("more …") and len(says) < 220
    assert page.index("hides") < page.index("check says") < page.index("Add two.")
