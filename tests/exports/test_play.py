"""Notebooks to play with: copies keep what a reader changed, and mistakes are named."""

import os

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from book.exports import play_mistakes
from book.exports.play import copy_notebooks, environment

# An exercise as a notebook has it: `check` stands in a cell, and nothing is imported.
CHECK = """
def check(make):
    assert make(1) == 2, "the numbers differ from the loop's: is every term of the square there?"
"""  # noqa: E501


@pytest.fixture
def html(tmp_path):
    """A built site of two pages and of a program to download."""
    for name in ("index", "vmap/axes", "_downloads/one"):
        path = tmp_path / "html" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name} as built")
    return tmp_path / "html"


def test_the_notebooks_of_pages_are_copied(html, tmp_path):
    folder = tmp_path / "play"
    copied = copy_notebooks(html, folder)
    assert copied == [folder / "index.ipynb", folder / "vmap/axes.ipynb"]
    assert (folder / "vmap/axes.ipynb").read_text() == "vmap/axes as built"


def test_what_a_reader_changed_stays_until_the_page_changes(html, tmp_path):
    built, copy = html / "index.ipynb", tmp_path / "play/index.ipynb"
    copy_notebooks(html, tmp_path / "play")
    copy.write_text("changed")
    assert copy_notebooks(html, tmp_path / "play") == []
    assert copy.read_text() == "changed"
    built.write_text("built again")
    later = copy.stat().st_mtime + 1
    os.utime(built, (later, later))
    assert copy_notebooks(html, tmp_path / "play") == [copy]
    assert copy.read_text() == "built again"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A function that runs code in a kernel of `nox -s play`; what it shows."""
    settings = tmp_path_factory.mktemp("settings")
    env = os.environ | environment(settings)
    manager, client = start_new_kernel(env=env, cwd=settings)

    def run(code):
        shown = []

        def hear(message):
            if message["msg_type"] in ("error", "stream", "execute_result"):
                shown.append(nbformat.v4.output_from_msg(message))

        client.execute_interactive(code, output_hook=hear, timeout=120)
        return shown

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_known_mistake_is_named_below_what_check_says(run):
    [failed] = run(f"{CHECK}\ncheck(lambda x: x)")
    assert failed.ename == "AssertionError"
    said = "\n".join(failed.traceback)
    sentence, named = "is every term of the square there?", play_mistakes.NOTE
    assert "may be another" in named  # other wrong numbers lead to this sentence, too
    assert said.index(sentence) < said.index(named)
    assert "You left out |c|², the squared length of each center." in said


def test_of_another_failure_nothing_is_known(run):
    [failed] = run("assert 1 == 2, 'one is not two'")
    assert failed.ename == "AssertionError"
    assert "one is not two" in "\n".join(failed.traceback)
    assert "mistake" not in "\n".join(failed.traceback)
    [failed] = run("1 / 0")
    assert failed.ename == "ZeroDivisionError"
    assert not run(f"{CHECK}\ncheck(lambda x: 2 * x)")


def test_a_mistake_of_every_exercise_is_known_by_what_check_says():
    names = {p.stem for p in play_mistakes.EXERCISES.glob("*.py")} - {"__init__"}
    assert names
    said = {word for thoughts in play_mistakes.known().values() for word in thoughts}
    for name in names:
        text = (play_mistakes.EXERCISES / f"{name}.py").read_text(encoding="utf-8")
        text = " ".join(text.split())
        assert any(thought in text for thought in said), name
