"""A lesson is edited and run in place: `nox -s play`, as a reader has it."""

import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import BUILT
from tests.played import played

PAGE, EXERCISE = "vmap/axes.html", "vmap/by_hand.html"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of the site with a page's path to follow, and the token."""
    site = tmp_path_factory.mktemp("played") / "html"
    shutil.copytree(BUILT, site)
    with played(site) as (url, token, _):
        yield f"{url}/book/{{}}?token={token}"


def test_an_edited_lesson_runs_and_shows_what_it_prints(opened, server):
    page = opened(server.format(PAGE))
    lesson = page.locator(".runnable").first
    code = lesson.get_by_role("textbox")
    code.click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.type("print(6 * 7)")
    page.keyboard.press("Shift+Enter")
    expect(lesson.locator(".told")).to_have_text("42", timeout=60_000)
    expect(page.get_by_role("status").filter(has_text="cell 1")).to_have_text(
        "cell 1 has run"
    )


def test_a_lesson_runs_those_above_it_first_and_one_that_fails_says_why(opened, server):
    page = opened(server.format(PAGE))
    lessons = page.locator(".runnable")
    lessons.nth(0).get_by_role("textbox").fill("import jax\nx = 42")
    lessons.nth(1).get_by_role("textbox").fill("x / 0")
    lessons.nth(1).get_by_role("button", name="Run: ").click()
    failed = lessons.nth(1).locator(".told .failed")
    expect(failed).to_contain_text(
        "ZeroDivisionError: division by zero", timeout=60_000
    )


def test_a_known_mistake_is_named_where_the_check_of_an_exercise_fails(opened, server):
    page = opened(server.format(EXERCISE))
    exercise = page.locator(".runnable", has_text="import check")
    module = "from examples.exercises.by_hand import check, mistake_takes_turns"
    exercise.get_by_role("textbox").fill(f"{module}\ncheck(mistake_takes_turns)")
    exercise.get_by_role("textbox").press("Shift+Enter")
    told = exercise.locator(".told p")
    expect(told).to_have_text(
        "A known mistake: You looped over the points with lax.map, "
        "which takes them one by one.",
        timeout=100_000,
    )
