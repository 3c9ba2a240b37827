"""Each rule for pages that teach objects when it is broken."""

from tests.house import teaching_pages
from tests.house.conftest import ABOVE, FIRST, LEAD, PAGE, TABLE, TASK, breaks, change

MAP = '@jax.shard_map(in_specs=P("data"), out_specs=P("data"))'
BAD_PAGES = {
    teaching_pages.it_begins_with_the_answer: [
        (LEAD, ":::{admonition} In one breath\n:::\n\n" + LEAD, "does not begin with"),
    ],
    teaching_pages.its_first_code_is_in_view: [
        ("```{code-cell}", "```{code-cell}\n:tags: [hide-input]", "is folded away"),
    ],
    teaching_pages.it_has_one_title: [
        ("# Here: a title", "## Here: a title", "the page has 0 titles, not one"),
    ],
    teaching_pages.it_sets_eight_devices: [
        (teaching_pages.EIGHT, "", "the first code that imports JAX does not ask for"),
    ],
    teaching_pages.headings_say_something: [
        (TASK, "## See it", "the heading 'See it' could stand on any page"),
        (TASK, "## Overview", "the heading 'Overview' could stand on any page"),
    ],
    teaching_pages.it_ends_with_a_card: [
        ("In short", "Keep", "there is no box 'In short'"),
        ("- Here: two to four lines for a card.\n", "", "'In short' has 1 lines"),
    ],
    teaching_pages.checks_prove: [
        ("assert np.array_equal(above_lowest", "(above_lowest", "asserts nothing"),
    ],
    teaching_pages.names_are_in_view: [
        (ABOVE, "from examples.spine import center\n" + ABOVE, "imports from examples"),
        (ABOVE, "import pandas\n" + ABOVE, "a lesson imports from pandas"),
        (
            ABOVE,
            "from examples.spine import center\n"
            + ABOVE
            + "\n```{literalinclude} ../../examples/spine.py\n:pyobject: center\n```\n",
            "imports from examples",
        ),
    ],
    teaching_pages.specs_are_written_out: [
        (MAP, "@jax.shard_map(**specs)", "hides its arguments behind `**`"),
    ],
    teaching_pages.links_and_tables_can_be_read_aloud: [
        (TABLE, "[the {term}`mesh` here](x.md)", "'[the {term}`mesh` here](' would"),
        (TABLE, "| | b |\n| --- | --- |\n| a | b |", "a column of this table has no"),
    ],
    teaching_pages.a_note_is_referred_to_once: [
        (TABLE, "One.[^a] Two.[^a]\n\n[^a]: A.", "[^a] stands here a second time"),
    ],
    teaching_pages.it_answers_questions: [
        (FIRST, "", "the page declares 1 questions; 2 or more"),
    ],
}


test_a_rule_objects = breaks(pages=BAD_PAGES)


def test_code_without_jax_may_stand_above_the_devices(small):
    above = "```{code-cell}\nx = 1\nx\n```\n\n```{code-cell}"
    book = change(small, PAGE, "```{code-cell}", above)
    assert teaching_pages.it_sets_eight_devices(book.page("shard_map/varying")) == []


def test_a_page_that_asserts_nothing_is_an_error(small):
    lines = (small.root / PAGE).read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("assert ")]
    (small.root / PAGE).write_text("\n".join(kept) + "\n", encoding="utf-8")
    found = teaching_pages.checks_prove(small.page("shard_map/varying"))
    assert found[0].endswith("the page asserts nothing.")
