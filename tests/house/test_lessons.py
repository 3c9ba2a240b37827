"""Each rule for a lesson of the course objects when it is broken."""

from tests.house import advice, lessons
from tests.house.conftest import TAUGHT, breaks, change
from tests.house.rules import rules_of

LINK = "the [page](../start/your_hardware.md)"
CHECKS = "from examples.exercises.mapped import check"
BAD_LESSONS = {
    lessons.a_lesson_needs_no_book: [
        ("import jax\n", "import pandas\n", "imports from pandas"),
        ("import jax\n", "from examples.spine import center\n", "from examples.spine"),
        ("import jax\n", "from examples.tools.timing import x\n", "examples.tools"),
        (CHECKS, CHECKS.replace("check", "solution"), "from examples.exercises.mapped"),
    ],
    lessons.it_lists_its_program: [
        ("learn/mapped.py\n", "learn/mapped.py\n:pyobject: main\n", "no whole program"),
        ("examples/learn/", "examples/train/", "no whole program"),
    ],
    lessons.it_lets_the_reader_guess: [
        ("{admonition} Guess", "{admonition} Think", "called 'Guess': 1; 2 or more"),
    ],
    lessons.it_says_where_to_look_it_up: [
        ("{admonition} Look it up", "{admonition} More", "no box 'Look it up'"),
    ],
    lessons.it_has_an_exercise: [(CHECKS, "check = abs", "no cell has `from exam")],
    lessons.a_lesson_stands_alone: [
        ("## In other words", f"{LINK} {LINK} {LINK}\n{LINK}", "4 links lead out"),
    ],
}


test_a_rule_objects = breaks(lessons=BAD_LESSONS)


def test_links_within_the_course_and_in_its_last_box_are_welcome(course):
    near = "[a](which_axis.md) [b](../learn/index.md) [c](https://a.b/c.md) [d](#e)"
    change(course, TAUGHT, "## In other words", f"{near} {LINK} {LINK} {LINK}")
    book = change(course, TAUGHT, "- Here: the pages", f"- {LINK}\n- {LINK}\n- more")
    assert lessons.a_lesson_stands_alone(book.page("learn/mapped")) == []


def test_lessons_are_not_asked_for_a_card_or_an_answer_in_front(course):
    box = ":::{admonition} Before you begin\n:::\n\nHere: the problem first"
    before = advice.of_page(course.page("learn/mapped"))
    page = change(course, TAUGHT, "Here: the problem first", box).page("learn/mapped")
    assert [s for rule in rules_of(page) for s in rule(page)] == []
    assert len(advice.of_page(page)) == len(before)
