"""No page ever shows output from other code, another JAX or another machine."""

import os
import re
import signal
from pathlib import Path

import pytest

from book.execute.cache import Cache, Entry
from book.execute.cache import key as cache_key
from book.hardware.targets import Hardware, Target
from book.source.dependencies import imported_files
from book.source.model import Cell, Page
from book.state import Problem

CELL = "from examples.deep import value\nassert value\nprint('value', value)"
EMPTY = "import os\nassert True\nprint('no examples here')"


@pytest.fixture(scope="module")
def original(shared):
    """A book whose page `uses` imports an example that imports an example."""
    book = shared
    book.write("examples/base.py", "value = 1\n")
    book.write("examples/deep.py", "from examples.base import value\n")
    book.page("uses", CELL)
    book.page("apart", EMPTY)
    first = book.build()
    assert first.code == 0, first.said
    assert book.executed() == {"uses", "apart"}
    return book


@pytest.fixture
def built(original, tmp_path):
    """A copy of that book, built."""
    return original.copied(tmp_path)


def again(book, **kwargs):
    """Build once more; it must go well."""
    result = book.build(**kwargs)
    assert result.code == 0, result.said
    return result


def test_nothing_changed_and_nothing_runs(built):
    before = built.record()["pages"]["uses"]["ran"]
    again(built)
    assert built.executed() == set()
    assert built.record()["pages"]["uses"]["ran"] == before
    assert f"Run on {before[:10]}," in built.text("uses")


def test_prose_and_display_tags_run_nothing(built):
    built.page("uses", ":tags: [hide-input]\n" + CELL, prose="Other words.")
    again(built)
    assert built.executed() == set()
    assert "Other words." in built.text("uses")
    assert "value 1" in built.text("uses")


def test_a_changed_cell_runs_its_page(built):
    built.page("uses", CELL + "\nprint('more')")
    again(built)
    assert built.executed() == {"uses"}
    assert "more" in built.text("uses")


def test_a_changed_example_runs_the_pages_that_import_it_however_indirectly(built):
    built.write("examples/base.py", "value = 2\n")
    again(built)
    assert built.executed() == {"uses"}
    assert "value 2" in built.text("uses")


def test_a_change_of_the_engine_runs_nothing_unless_pages_import_it():
    docs = Path(__file__).parents[2] / "docs"
    found = imported_files("from book.draw import shards", (docs,))
    names = [path.relative_to(docs / "book") for path in found]
    engine = {name.as_posix() for name in names if name.parts[0] != "draw"}
    by_commands = {"source/commands.py", "source/dependencies.py"}  # of a console
    by_commands |= {"source/kept_results.py", "files.py"}
    assert engine == {"__init__.py", "source/__init__.py"} | by_commands


INDENTED = """
def function():
    try:
        {0}
    except ImportError:
        {1}
    else:
        {2}
    finally:
        {3}
    match 1:
        case 1:
            {4}
    with open("x"):
        if 1:
            pass
        else:
            {5}
"""


def test_an_import_counts_wherever_it_stands(tmp_path):
    names = [f"part{number}" for number in range(6)]
    for name in names:
        (tmp_path / f"{name}.py").write_text("")
    source = INDENTED.format(*(f"import {name}" for name in names))
    assert {path.stem for path in imported_files(source, (tmp_path,))} == set(names)


def test_a_changed_listing_runs_the_page_that_shows_it(built):
    listing = "```{literalinclude} ../examples/shown.py\n:pyobject: f\n```"
    built.write("examples/shown.py", "def f():\n    return 1\n")
    built.page("apart", EMPTY, prose=listing)
    again(built)
    built.write("examples/shown.py", "def f():\n    return 2\n")
    again(built)
    assert built.executed() == {"apart"}
    assert 'return</span> <span class="mi">2' in built.text("apart")


def test_going_back_to_older_code_runs_nothing(built):
    built.write("examples/base.py", "value = 2\n")
    again(built)
    built.write("examples/base.py", "value = 1\n")
    again(built)
    assert built.executed() == set()
    assert "value 1" in built.text("uses")


def test_another_jax_shares_nothing(built):
    # A different version string, found where JAX looks for its own.
    built.write(
        "other/sitecustomize.py",
        "import jax\njax.__version__ = '99.1'\n",
    )
    known = (built.docs / "targets.toml").read_text()
    other = f', PYTHONPATH = "{built.root / "other"}" }}'
    built.targets(known.replace(" }", other, 1))
    again(built)
    assert built.executed() == {"uses", "apart"}
    assert built.record()["jax"] == "99.1"
    assert "JAX 99.1" in built.text("uses")
    built.targets(known)
    again(built)
    assert built.executed() == set()
    assert "JAX 99.1" not in built.text("uses")


def test_another_environment_of_a_target_shares_nothing(built):
    known = (built.docs / "targets.toml").read_text()
    built.targets(known.replace(" }", ', JAX_ENABLE_X64 = "1" }', 1))
    again(built)
    assert built.executed() == {"uses", "apart"}


def test_another_device_count_shares_nothing(built):
    text = (built.docs / "targets.toml").read_text()
    more = text.replace('JAX_NUM_CPU_DEVICES = "8"', 'JAX_NUM_CPU_DEVICES = "9"', 1)
    built.targets(more)
    again(built)
    assert built.executed() == {"uses", "apart"}


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied", "binary"])
def test_damaged_outputs_are_dropped_and_made_again(built, damage):
    [path] = (built.docs / "_build" / "cache").glob("*/uses.*")
    whole = path.read_bytes()
    path.write_bytes(
        {
            "cut": whole[: len(whole) // 2],
            "changed": whole.replace(b"value 1", b"value 7"),
            "emptied": b"",
            "binary": b"\xff\x00" * 50,
        }[damage]
    )
    said = again(built).said
    assert "the cached outputs of uses were damaged; dropped" in said
    assert built.executed() == {"uses"}
    assert "value 1" in built.text("uses")


def test_outputs_that_are_used_are_kept_longest(tmp_path):
    page = Page("p", Path("p.md"), "", cells=(Cell(1, 1, "1"),))
    kept = Cache(tmp_path, Hardware(Target("cpu", "", "cpu", 8), "1", "1", "cpu", 8))
    for number, name in enumerate("abc"):
        kept.put(page, name, Entry([[]], "", 1.0))
        os.utime(kept._path("p", name), (number, number))
    assert kept.get(page, "a")
    kept.put(page, "d", Entry([[]], "", 1.0))
    assert [name for name in "abcd" if kept.get(page, name)] == ["a", "c", "d"]


def test_two_builds_at_once_are_both_right(book):
    slow = "import time\ntime.sleep(1)\nassert True\nprint('slow', 'page')"
    book.page("slow", slow)
    book.page("quick", EMPTY)
    first, second = book.start(), book.start("-j", "2")
    results = [p.communicate(timeout=120)[0] for p in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), results
    assert "slow page" in book.text("slow")
    assert again(book).code == 0
    assert book.executed() == set()


@pytest.mark.parametrize(
    "at", ["slow: running", "reading sources", "writing output... ["]
)
def test_a_build_killed_at_any_moment_leaves_nothing_wrong(book, at):
    book.write("examples/base.py", "value = 1\n")
    slow = "import time\ntime.sleep(0.5)\n" + CELL.replace("deep", "base")
    book.page("slow", slow)
    again(book)
    book.write("examples/base.py", "value = 2\n")
    with book.start() as process:
        said = ""
        for line in process.stdout:
            said += line
            if at in line:
                os.killpg(process.pid, signal.SIGKILL)
                break
        else:
            pytest.fail(f"the build never said {at!r}:\n{said}")
    said = again(book).said
    assert "the last build was stopped half-way" in said
    assert "value 2" in book.text("slow")
    assert book.record()["pages"]["slow"]["cells"] == 2  # and its check


def test_parallel_reading_works_from_a_cold_start(book):
    for number in range(4):
        book.page(f"page{number}", f"assert True\nprint('number', {number})")
    assert again(book, env={}).code == 0
    other = book.build("-j", "4", "-E")
    assert other.code == 0, other.said
    for number in range(4):
        assert re.search(rf"number {number}", book.text(f"page{number}"))


def test_a_program_that_a_shown_command_runs_counts(tmp_path):
    program = tmp_path / "examples" / "hello.py"
    program.parent.mkdir()
    program.write_text("print(1)")
    source = 'from book.draw import console\nconsole("python hello.py")'
    page = Page("p", tmp_path / "p.md", "", cells=(Cell(1, 1, source),))
    before = cache_key(page, (tmp_path,))
    assert cache_key(page, (tmp_path,)) == before
    program.write_text("print(2)")
    assert cache_key(page, (tmp_path,)) != before
    program.unlink()
    with pytest.raises(Problem, match="examples/ has 0 files"):
        cache_key(page, (tmp_path,))
