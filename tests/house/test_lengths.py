"""What is longer than most is told."""

from tests.house import advice, lengths
from tests.house.book import Book
from tests.house.conftest import ABOVE, ENTRY, LEAD, PAGE, TABLE, TAUGHT, breaks, change

BAD_PAGES = {
    lengths.code_comes_soon: [
        (LEAD, "word " * 150 + LEAD, "words before the first code; 150 are usual"),
    ],
    lengths.lessons_are_short: [
        (ABOVE, "x" * 81 + "\n" + ABOVE, "a line of 81 columns; 80 is usual"),
        (ABOVE, "x\n" * 11 + ABOVE, "a lesson has 16 lines of code; 15 is usual"),
        (TABLE, "word " * 900, "words of prose; 900 is usual"),
        (
            TABLE,
            "```{code-cell}\nx\n```\n\n" * 9,
            "lessons on one page; 12 is usual",
        ),
    ],
}
BAD_LESSONS = {
    lengths.a_lesson_takes_half_an_hour: [
        ("## In other words", "## In other words", "words; 900 to 1,600 are usual"),
        ("## In other words", "word " * 1601, "words; 900 to 1,600 are usual"),
    ],
}


test_a_rule_objects = breaks(pages=BAD_PAGES, lessons=BAD_LESSONS)


def test_a_lesson_of_a_usual_length_gets_no_advice(course):
    book = change(course, TAUGHT, "## In other words", "word " * 900)
    assert lengths.a_lesson_takes_half_an_hour(book.page("learn/mapped")) == []
    folded = "def below(x, highest):"
    change(course, TAUGHT, folded, "y = 1\n" * 40 + folded)
    told = [s for s in advice.of_page(course.page("learn/mapped")) if "lines of" in s]
    assert told == []


def test_an_entry_of_a_look_up_page_has_two_lessons_at_most(small):
    more = ENTRY + "\n\n```{code-cell}\nx\n```\n\n```{code-cell}\nx\n```"
    book = change(small, "docs/vmap/options.md", ENTRY, more)
    [found] = lengths.lessons_are_short(book.page("vmap/options"))
    assert "an entry has 3 lessons; 2 is usual" in found


def test_a_long_copy_and_a_long_program_are_told(small):
    change(small, PAGE, ABOVE, "y = 1\n" * 81 + ABOVE)
    trains = small.root / "examples/train/long.py"
    trains.parent.mkdir()
    trains.write_text("x = 1\n" * 121)
    [copy, *_] = lengths.copies_are_short(small)
    assert copy.startswith(f"{PAGE}:") and "80 are many" in copy
    [program] = lengths.training_is_read_in_one_go(Book(small.root))
    assert "it has 121 lines" in program


def test_programs_of_which_half_are_long_are_told(small, monkeypatch):
    monkeypatch.setattr(lengths, "SHORT_PROGRAM", 3)
    [told] = lengths.copies_are_short(small)
    assert told.startswith("docs/:1: half of all programs have more than ")
