"""What is lost, shown nowhere or there twice is found in a small book."""

from tests.house import coherence
from tests.house.book import Book
from tests.house.conftest import ENTRY, FIRST, HEAD, PAGE, change


def test_a_program_that_an_exercise_or_a_table_needs_is_shown(small):
    for name in "taken", "compiled":
        (small.root / f"examples/{name}.py").write_text('"""A part."""\n')
    assert len(coherence.programs_are_shown(Book(small.root))) == 2
    exercise = small.root / "examples/exercises/varying.py"
    exercise.write_text(exercise.read_text() + "\nfrom examples.taken import x\n")
    page = small.root / PAGE
    page.write_text(page.read_text() + "\n```{compiled} compiled\n```\n")
    assert coherence.programs_are_shown(Book(small.root)) == []


def test_a_program_that_no_page_shows_is_an_error(small):
    (small.root / "examples/alone.py").write_text('"""Nobody sees this."""\n')
    [found] = coherence.programs_are_shown(small)
    assert found.startswith("examples/alone.py:1: no page lists it")


def test_a_page_that_no_toctree_leads_to_is_an_error(small):
    (small.root / "docs/shard_map/lost.md").write_text("# Lost\n")
    found = coherence.pages_are_reachable(small)
    assert found == ["docs/shard_map/lost.md:1: no toctree leads to it."]


def test_a_toctree_below_the_index_leads_on(small):
    (small.root / "docs/shard_map/far.md").write_text("# Far\n")
    (small.root / "docs/words.md").write_text("# Words\n")
    more = f"```{{toctree}}\n:hidden:\n\nFar away <far>\n/words\n```\n\n{HEAD}"
    book = change(small, PAGE, HEAD, more)
    assert coherence.pages_are_reachable(book) == []


def test_a_short_title_that_a_chapter_has_twice_is_an_error(small):
    called = "Here, varying"
    book = change(small, "docs/vmap/options.md", "Here, options", called)
    [found] = coherence.short_titles_are_unique(book)
    assert found.endswith("shard_map/varying is called 'here, varying' too.")


def test_a_question_that_one_page_answers_twice_is_an_error(small):
    [found] = coherence.questions_are_unique(change(small, PAGE, FIRST, FIRST + FIRST))
    assert "a question of a reader" in found
    assert "is answered on shard_map/varying too" in found


def test_a_question_that_two_pages_answer_is_an_error(small):
    asked = "Here: a question of a reader, in a reader's words"
    change(
        small,
        "docs/vmap/options.md",
        "Here: what somebody else asks, on the same list",
        asked,
    )
    [found] = coherence.questions_are_unique(small)
    assert "is answered on shard_map/varying too" in found


def test_a_chapter_whose_questions_are_not_collected_is_an_error(small):
    lists = small.root / "docs/evidence/questions.md"
    lists.parent.mkdir()
    lists.write_text("# Asked\n\n```{questions} vmap\n```\n")
    [found] = coherence.questions_are_collected(Book(small.root))
    assert found.endswith("it lacks ```{questions} shard_map```")
    lists.write_text(lists.read_text() + "\n```{questions} shard_map\n```\n")
    assert coherence.questions_are_collected(Book(small.root)) == []


def test_a_heading_that_stands_on_two_pages_is_told(small):
    change(small, "docs/vmap/options.md", "at: the-mean-of-each-column", "at: x")
    change(small, "docs/vmap/options.md", ENTRY, HEAD)
    at = "at: the-lowest-of-all-takes-one-pmin"
    book = change(small, "docs/vmap/options.md", "at: x", at)
    [found] = coherence.headings_are_unique(book)
    assert f"is the heading of {PAGE}:" in found
