"""A word that the book does not use is found, and a term without its link."""

from tests.house import advice, wording
from tests.house.conftest import PAGE, PROGRAM, TABLE, TASK, breaks, change

BAD_PAGES = {
    wording.page_is_calm: [
        (TABLE, "You can simply run it.", "'simply' says nothing"),
        (TABLE, "Note\nthat it runs.", "'Note that' says nothing"),
    ],
    wording.words_are_jaxs: [
        (TASK, "## Each lane does it", "'lane' is not JAX's word; say example"),
        (TABLE, "On the way back it is summed.", "'the way back' is not JAX's word"),
    ],
}
BAD_PROGRAMS = {
    wording.program_is_calm: [
        ("sixteen whole", "just sixteen whole", "'just' says nothing"),
    ],
}


test_a_rule_objects = breaks(pages=BAD_PAGES, programs=BAD_PROGRAMS)


def test_a_term_of_jax_is_no_word_to_leave_out():
    assert wording.banned("compiled just-in-time", "here") == []
    assert wording.banned("compiled just now", "here") != []


def test_words_of_programs_and_of_the_front_door_are_told(program):
    book = change(program, PROGRAM, "sixteen whole", "just sixteen whole")
    (book.root / "README.md").write_text("# A book\n\nIt is simply a book.\n")
    assert any("'just' says nothing" in one for one in advice.of_book(book))
    [found] = wording.front_door_is_calm(book)
    assert found.startswith("README.md:3: 'simply' says nothing")


def test_a_private_word_in_what_a_mistake_says_of_itself_is_told(small):
    exercise = small.root / "examples/exercises/lanes.py"
    exercise.parent.mkdir(parents=True, exist_ok=True)
    exercise.write_text('def mistake_adds(x):\n    """It adds over\n    lanes."""\n')
    [found] = wording.exercises_say_jaxs_words(small)
    assert found.startswith("examples/exercises/lanes.py:1: 'lanes' is not JAX's word")
    exercise.write_text('def mistake_adds(x):\n    """It adds over examples."""\n')
    assert wording.exercises_say_jaxs_words(small) == []


def test_a_word_of_the_list_that_is_used_and_not_linked_is_told(small):
    words = "# Words\n\n```{glossary}\nlowest\n  The least.\n\nminimum\n  Too.\n```\n"
    (small.root / "docs/words.md").write_text(words)
    found = wording.first_uses_lead_to_the_words(small)
    assert [text.rsplit(":", 1)[1] for text in found] == [
        " 'minimum' is first used here; write {term}`minimum`."
    ]
    change(small, PAGE, "the minimum of one", "the {term}`minimum` of one")
    assert wording.first_uses_lead_to_the_words(small) == []
