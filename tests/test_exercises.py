"""The promise of an exercise: right answers pass, tempting errors are told apart.

So it is where `check` is imported, and in what *Copy runnable* gives of an exercise.
"""

import json
import re
from pathlib import Path

import jax
import pytest

from book.snippets.slicer import Slicer, programs
from book.source.exercises import PREFIX
from tests.house.book import Book
from tests.said import FILE, FOLDER, load, mistakes_of, names, objection, said

ROOT = Path(__file__).parents[1]
BOOK = Book(ROOT)
SLICER = Slicer((ROOT, ROOT / "docs"))
KEPT = json.loads(FILE.read_text(encoding="utf-8"))
NAMES = names()


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
    ("name", "mistake"), [(name, one) for name in NAMES for one in mistakes_of(name)]
)
def test_a_mistake_is_rejected_with_a_sentence(name, mistake):
    exercise = load(name)
    told = objection(exercise, getattr(exercise, PREFIX + mistake))
    assert told is not None, f"check accepts {mistake}"
    assert is_a_sentence(told), f"of {mistake}, check says only {told!r}"
    if jax.default_backend() == "cpu":  # compilers choose what some speak of
        kept = KEPT.get(name, {}).get(mistake)
        assert words(kept) == words(told), (
            f"examples/exercises/said.json has {kept!r} for {name}, {mistake}, but "
            f"check says {told!r}: `nox -s said -- {name}` writes it"
        )


def test_no_page_shows_what_was_said_of_a_mistake_that_is_gone():
    known = {name: [*mistakes_of(name)] for name in NAMES}
    assert {name: [*said] for name, said in KEPT.items()} == known


@pytest.mark.parametrize("name", NAMES)
def test_there_are_two_mistakes_that_say_what_the_learner_thought(name):
    known = mistakes_of(name)
    assert len(known) >= 2
    silent = [PREFIX + mistake for mistake, thought in known.items() if not thought]
    assert not silent, f"{silent[0]} has no docstring"


@pytest.mark.parametrize("name", NAMES)
def test_a_stub_is_rejected_with_a_sentence(name):
    def stub(*args, **kwargs):
        return None

    told = objection(load(name), stub)
    assert told is not None, "check accepts a function that returns nothing"
    assert is_a_sentence(told), f"of a stub, check says only {told!r}"


def test_there_is_an_exercise():
    assert NAMES


STUBS = [
    (page, cell.number, cell.exercise)
    for page in BOOK.page_names
    for cell in BOOK.page(page).cells
    if cell.exercise and cell.raises
]


ANSWERS = """
for answer in {answers}:
    try:
        check(answer)
    except AssertionError as objected:
        print("no:", answer.__name__, objected)
"""


@pytest.mark.parametrize(("page", "number", "exercise"), STUBS)
def test_a_copied_exercise_passes_when_it_is_solved_and_says_why_not(
    launcher, page, number, exercise
):
    copied = programs(BOOK.page(page), SLICER, print)[f"cell{number}"]
    stub = launcher.finish(copied, once=True)
    assert stub.code == 1 and "The check passes." not in stub.out
    assert "AssertionError: " in stub.err and "During handling" not in stub.err
    above, _, last = copied.rstrip().rpartition("\n")
    assert re.fullmatch(r"check\(.+\)", last), f"the copy ends in {last!r}"
    wrong = [PREFIX + mistake for mistake in mistakes_of(exercise)]
    path = FOLDER / f"{exercise}.py"
    code = [SLICER.listing(path, answer) for answer in ("solution", *wrong)]
    loop = ANSWERS.format(answers=f"[solution, {', '.join(wrong)}]")
    ended = launcher.finish("\n".join([above, *code, loop]))
    assert ended.code == 0, ended.err
    assert ended.out.count("The check passes.\n") == 1, ended.out
    objections = [one for one in ended.out.splitlines() if one.startswith("no: ")]
    assert [line.split()[1] for line in objections] == wrong


def test_what_is_said_names_no_address(monkeypatch, tmp_path):
    """Another run would say something else; so nothing is written."""
    text = "def check(make):\n    assert False, f'{make} is no answer of yours'\n\n\n"
    text += "def mistake_is_shown():\n    pass\n"
    (tmp_path / "shown.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr("tests.said.FOLDER", tmp_path)
    monkeypatch.setattr("examples.exercises.__path__", [str(tmp_path)])
    with pytest.raises(ValueError, match=r"shown\.py: of mistake_is_shown, check says"):
        said("shown")
