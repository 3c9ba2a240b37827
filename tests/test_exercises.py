"""The promise of an exercise: right answers pass, tempting errors are told apart.

So it is where `check` is imported, and in what *Copy runnable* gives of an exercise.
"""

import ast
import importlib
import json
import re
from pathlib import Path

import jax
import pytest

from book.snippets.slicer import Slicer, programs
from tests import house

ROOT = Path(__file__).parents[1]
BOOK = house.Book(ROOT)
SLICER = Slicer((ROOT, ROOT / "docs"))
FOLDER = Path(__file__).parents[1] / "examples" / "exercises"
KEPT = json.loads((FOLDER / "said.json").read_text(encoding="utf-8"))
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def load(name):
    """Import the exercise `name`."""
    return importlib.import_module(f"examples.exercises.{name}")


def mistakes(name):
    """Return the definitions of the mistakes that the exercise `name` knows."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [node for node in functions if node.name.startswith("mistake_")]


def objection(exercise, attempt):
    """Return what `check` says against `attempt`; None when it says nothing."""
    try:
        exercise.check(attempt)
    except AssertionError as error:
        return str(error)
    return None


def is_a_sentence(text):
    """Whether a learner can read `text`: words, on their own, not a bare value."""
    return len([word for word in (text or "").split() if word[0].isalnum()]) >= 4


def words(text):
    """The words of `text`: its numbers are those of one machine."""
    return re.findall("[a-z]{3,}", (text or "").lower())


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes(name):
    exercise = load(name)
    exercise.check(exercise.solution)


@pytest.mark.parametrize(
    ("name", "mistake"), [(name, m.name) for name in NAMES for m in mistakes(name)]
)
def test_a_mistake_is_rejected_with_a_sentence(name, mistake):
    exercise = load(name)
    said = objection(exercise, getattr(exercise, mistake))
    assert said is not None, f"check accepts {mistake}"
    assert is_a_sentence(said), f"of {mistake}, check says only {said!r}"
    if jax.default_backend() == "cpu":  # compilers choose what some speak of
        kept = KEPT.get(name, {}).get(mistake.removeprefix("mistake_"))
        told = f"said.json has for {name}, {mistake}: {kept!r}, but check says {said!r}"
        assert words(kept) == words(said), told


def test_no_page_shows_what_was_said_of_a_mistake_that_is_gone():
    known = {
        name: [m.name.removeprefix("mistake_") for m in mistakes(name)]
        for name in NAMES
    }
    assert {name: [*said] for name, said in KEPT.items()} == known


@pytest.mark.parametrize("name", NAMES)
def test_there_are_two_mistakes_that_say_what_the_learner_thought(name):
    known = mistakes(name)
    assert len(known) >= 2
    silent = [mistake.name for mistake in known if not ast.get_docstring(mistake)]
    assert not silent, f"{silent[0]} has no docstring"


@pytest.mark.parametrize("name", NAMES)
def test_a_stub_is_rejected_with_a_sentence(name):
    def stub(*args, **kwargs):
        return None

    said = objection(load(name), stub)
    assert said is not None, "check accepts a function that returns nothing"
    assert is_a_sentence(said), f"of a stub, check says only {said!r}"


def test_there_is_an_exercise():
    assert NAMES


CHECKED = re.compile(
    r"^from examples\.exercises\.(\w+) import .*\bcheck\b", re.MULTILINE
)
STUBS = [
    (page, cell.number, match[1])
    for page in BOOK.page_names
    for cell in BOOK.page(page).cells
    if cell.visible and cell.raises and (match := CHECKED.search(cell.source))
]


ANSWERS = """
for answer in {answers}:
    try:
        check(answer)
    except AssertionError as error:
        print("no:", answer.__name__, error)
"""


@pytest.mark.parametrize(("page", "number", "exercise"), STUBS)
def test_a_copied_exercise_passes_when_it_is_solved_and_says_why_not(
    launcher, page, number, exercise
):
    copied = programs(BOOK.page(page), SLICER, print)[f"cell{number}"]
    stub = launcher.finish(copied)
    assert stub.code == 1 and "The check passes." not in stub.out
    assert "AssertionError: " in stub.err and "During handling" not in stub.err
    above, _, last = copied.rstrip().rpartition("\n")
    assert re.fullmatch(r"check\(.+\)", last), f"the copy ends in {last!r}"
    wrong = [mistake.name for mistake in mistakes(exercise)]
    path = FOLDER / f"{exercise}.py"
    code = [SLICER.listing(path, answer) for answer in ("solution", *wrong)]
    loop = ANSWERS.format(answers=f"[solution, {', '.join(wrong)}]")
    ended = launcher.finish("\n".join([above, *code, loop]))
    assert ended.code == 0, ended.err
    assert ended.out.count("The check passes.\n") == 1, ended.out
    said = [line for line in ended.out.splitlines() if line.startswith("no: ")]
    assert [line.split()[1] for line in said] == wrong
