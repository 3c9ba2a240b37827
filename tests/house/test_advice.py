"""Advice is told, and fails nothing."""

from tests.house import advice, coherence
from tests.house.book import Book
from tests.house.conftest import ENTRY, PAGE, TABLE, TAUGHT, change


def test_advice_is_a_list_that_fails_nothing(small, capsys):
    change(small, PAGE, TABLE, "word " * 900)
    change(small, "docs/vmap/options.md", ENTRY, "## See it")
    change(small, "docs/vmap/options.md", "the-mean-of-each-column", "see-it")
    assert advice.main([], small.root) == 0
    told = capsys.readouterr().out
    assert "900 is usual" in told and "could stand on any page" in told
    assert told.endswith("2 pieces of advice; none has to be followed.\n")
    assert advice.main(["vmap/options"], small.root) == 0
    told = capsys.readouterr().out
    assert "900 is usual" not in told and "could stand on any page" in told
    assert "\n1 piece of advice;" in told


def test_lessons_are_advised_and_may_have_the_same_headings(course):
    assert any("900 to 1,600" in one for one in advice.of_book(course))
    text = (course.root / TAUGHT).read_text(encoding="utf-8")
    (course.root / "docs/learn/again.md").write_text(text, encoding="utf-8")
    assert coherence.headings_are_unique(Book(course.root)) == []
