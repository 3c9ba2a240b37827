"""The promise of `book.new`: a new page is complete, and nothing is lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from book.hardware.targets import load
from book.scaffold import new as scaffold
from book.scaffold.new import Refusal, create, say_where
from book.snippets.slicer import Slicer, programs
from book.source.parser import read
from tests.launcher import Launcher

REAL = Path(__file__).parents[2]
PAGE = "docs/shard_map/varying.md"
LOOK_UP = "docs/vmap/options.md"
ERROR = "docs/errors/rank.md"
EXERCISE = "examples/exercises/varying.py"
ONE_DEVICE = "docs/jit/ahead.md"
LESSON = "docs/learn/mapped.md"
MESSAGE = "ValueError: vmap was requested to map its argument along axis 0"
TAUGHT = {LESSON, "examples/exercises/mapped.py", "examples/learn/mapped.py"}
INDEX = """# A book

```{toctree}
:caption: shard_map

shard_map/split_inner
```
"""


@pytest.fixture
def empty(tmp_path):
    """A book without a page."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(INDEX)
    (tmp_path / "examples").mkdir()
    return tmp_path


@pytest.fixture
def fresh(empty):
    """A book with a new page of each kind, and of each kernel."""
    for folder in ("jit", "vmap"):
        (empty / "docs" / folder).mkdir()
        old = "---\nkernelspec:\n  name: target\n---\n"
        (empty / "docs" / folder / "old.md").write_text(old)
    create(empty, "shard_map/varying")
    create(empty, "shard_map/table", "look-up")
    create(empty, "jit/ahead")
    create(empty, "vmap/options", "look-up")
    create(empty, "errors/rank", MESSAGE)
    create(empty, "learn/mapped", "lesson")
    return empty


def python(folder, *arguments):
    """Run Python in `folder` as `nox -s new` and a reader do."""
    paths = [str(folder), str(REAL / "docs")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def files(folder):
    """Return `{path: text}` of all that `folder` holds."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["shard_map/varying"], {PAGE, EXERCISE}),
        (["vmap/options", "look-up"], {LOOK_UP}),
        (["errors/rank", MESSAGE], {ERROR}),
        (["learn/mapped", "lesson"], TAUGHT),
    ],
)
def test_what_a_page_needs_is_written(empty, arguments, wanted):
    before = files(empty)
    done = python(empty, "-m", "book.scaffold.new", *arguments)
    assert done.returncode == 0, done.stderr
    assert set(files(empty)) - set(before) == wanted
    for path in wanted:
        assert f"wrote {path}" in done.stdout
        assert "TODO" in files(empty)[path]
        assert "NAME" not in files(empty)[path].replace(".", " ").split()
        assert "FOLDER" not in files(empty)[path]


def test_the_line_for_the_toctree_is_said_with_its_place(empty):
    done = python(empty, "-m", "book.scaffold.new", "shard_map/varying")
    line = INDEX.splitlines().index("shard_map/split_inner") + 1
    assert f"docs/index.md, below line {line}," in done.stdout
    assert "\nshard_map/varying\n" in done.stdout


def test_a_new_chapter_gets_a_first_page_with_its_contents(empty):
    said = say_where(empty / "docs", "errors/replication")
    assert said.startswith(
        "docs/index.md wants in its toctree the line\n\nerrors/index"
    )
    assert said.endswith(
        "```{chapter}\n```\n\n```{toctree}\n:hidden:\n\nreplication\n```"
    )
    assert "---\nbook:\n  short: errors\n---\n\n# TODO" in said


def test_a_chapter_with_contents_of_its_own_keeps_its_pages_there(empty):
    (empty / "docs/errors").mkdir()
    (empty / "docs/errors/all.md").write_text("# All\n\n```{toctree}\nrank\n```\n")
    said = say_where(empty / "docs", "errors/replication")
    assert said == "docs/errors/all.md wants in its toctree the line\n\nreplication"


def test_the_new_pages_can_be_read(fresh):
    page = read(fresh / PAGE, "shard_map/varying")
    assert (page.kernel, page.kind) == ("mesh-of-eight", "concept")
    assert [cell.check for cell in page.cells].count(True) == 2
    assert [listing.path for listing in page.listings] == [fresh / EXERCISE]
    options = read(fresh / LOOK_UP, "vmap/options")
    assert (options.kernel, options.kind) == ("target", "look-up")
    assert read(fresh / "docs/shard_map/table.md", "table").kernel == "mesh-of-eight"
    assert read(fresh / ONE_DEVICE, "jit/ahead").kernel == "target"
    assert read(fresh / ERROR, "errors/rank").error.called == ("jax.vmap",)
    lesson = read(fresh / LESSON, "learn/mapped")
    assert (lesson.kernel, lesson.kind) == ("mesh-of-eight", "lesson")
    listed = {one.path.relative_to(fresh).as_posix() for one in lesson.listings}
    assert {LESSON, *listed} == TAUGHT


def test_every_snippet_of_the_new_pages_runs_alone(fresh):
    problems, found, raising = [], {}, set()
    table = "docs/shard_map/table.md"
    for path in PAGE, table, ONE_DEVICE, LOOK_UP, ERROR, LESSON:
        name = path.removeprefix("docs/").removesuffix(".md")
        page = read(fresh / path, name)
        cut = programs(page, Slicer((fresh, fresh / "docs")), problems.append)
        found |= {f"{name}/{which}": text for which, text in cut.items()}
        raising |= {f"{name}/cell{cell.number}" for cell in page.cells if cell.raises}
    assert problems == []
    assert len(found) == 29
    with Launcher(load(REAL / "docs" / "targets.toml")["cpu"]) as launcher:
        for name, program in found.items():
            code, said = launcher.run(program)
            assert code == (name in raising), f"{name}: {said}"


def test_the_new_exercise_can_be_passed_and_failed(fresh):
    attempts = """
import jax
jax.config.update("jax_num_cpu_devices", 8)
from examples.exercises import ahead, varying
varying.check(varying.solution)
ahead.check(ahead.solution)
home, adds = varying.mistake_stays_at_home, varying.mistake_adds_the_shards
of_all, columns = ahead.mistake_takes_the_highest_of_all, ahead.mistake_compares_columns
wrongs = [(varying.check, one) for one in (home, adds, lambda *_: None)]
wrongs += [(ahead.check, one) for one in (of_all, columns, lambda *_: None)]
for check, wrong in wrongs:
    try:
        check(wrong)
    except AssertionError as error:
        assert len(str(error).split()) > 4
    else:
        raise SystemExit(f"{wrong} passed")
"""
    done = python(fresh, "-c", attempts)
    assert done.returncode == 0, done.stderr


def test_the_new_pages_build(book):
    book.index()
    create(book.root, "shard_map/varying")
    create(book.root, "vmap/options", "look-up")
    book.write("docs/jit/old.md", "---\nkernelspec:\n  name: target\n---\n")
    create(book.root, "jit/ahead")
    (book.docs / "jit/old.md").unlink()
    create(book.root, "errors/rank", MESSAGE)
    create(book.root, "learn/mapped", "lesson")
    known = "shard", "sharded", "varying", "collective"
    entries = "\n\n".join(f"{word}\n  What it means." for word in known)
    words = f"# Words\n\n```{{glossary}}\n{entries}\n```\n"
    book.write("docs/words.md", words)
    book.write("docs/start/your_hardware.md", "# Hardware\n\nEight devices.\n")
    names = "shard_map/varying", "vmap/options", "errors/rank", "learn/mapped", "words"
    book.index(*names, "jit/ahead", "start/your_hardware")
    (book.docs / "book").symlink_to(REAL / "docs" / "book")  # for book.draw
    built = book.build()
    assert built.code == 0, built.said
    assert 'class="painted"' in book.text("shard_map/varying")


@pytest.mark.parametrize("there", [PAGE, EXERCISE])
def test_a_file_that_exists_is_named_and_nothing_is_written(empty, there):
    (empty / there).parent.mkdir(parents=True, exist_ok=True)
    (empty / there).write_text("mine\n")
    before = files(empty)
    done = python(empty, "-m", "book.scaffold.new", "shard_map/varying")
    assert done.returncode == 1
    assert done.stderr == f"there already: {there}; nothing was written.\n"
    assert files(empty) == before


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("varying", "has no folder"),
        ("shard_map/", "'' cannot be imported"),
        ("shard_map/Varying", "'Varying' cannot be imported"),
        ("shard_map/varying.md", "'varying.md' cannot be imported"),
        ("shard_map/two words", "'two words' cannot be imported"),
        ("shard_map/2nd", "'2nd' cannot be imported"),
        ("shard_map/lambda", "'lambda' cannot be imported"),
        ("../varying", "'..' cannot be imported"),
        ("/shard_map/varying", "'' cannot be imported"),
        ("shard_map/deep/varying", "'deep/varying' cannot be imported"),
        ("_static/varying", "'_static' cannot be imported"),
        ("exercises/varying", "'exercises' is no chapter"),
        ("book/varying", "'book' is no chapter"),
    ],
)
def test_a_bad_name_is_refused_with_a_good_one(empty, name, says):
    before = files(empty)
    with pytest.raises(Refusal, match="like shard_map/varying") as refusal:
        create(empty, name)
    assert says in str(refusal.value)
    assert files(empty) == before


@pytest.mark.parametrize("arguments", [(), ("a", "b", "c")])
def test_a_call_without_one_name_says_how_to_call(empty, arguments):
    done = python(empty, "-m", "book.scaffold.new", *arguments)
    assert done.returncode == 1
    assert "python -m nox -s new -- shard_map/varying" in done.stderr
    assert "Traceback" not in done.stderr


def test_outside_of_a_book_nothing_is_written(tmp_path):
    done = python(tmp_path, "-m", "book.scaffold.new", "shard_map/varying")
    assert done.returncode == 1
    assert "run it where noxfile.py is" in done.stderr
    assert files(tmp_path) == {}


def test_the_templates_are_where_the_scaffold_looks():
    names = [path.name for path in scaffold.TEMPLATES.glob("*/*.*")]
    both = ["concept.md", "look-up.md", "exercise.py"]
    assert sorted(names) == sorted(
        [*both, *both, "error.md", "lesson.md", "program.py"]
    )


def test_an_exercise_alone_is_for_a_page_that_is_there(empty):
    with pytest.raises(Refusal, match=r"no docs/vmap/axes\.md that could get"):
        create(empty, "vmap/axes", "exercise")
    (empty / "docs/vmap").mkdir()
    page = "---\nkernelspec:\n  name: target\n---\n\n# Axes\n"
    (empty / "docs/vmap/axes.md").write_text(page)
    done = python(empty, "-m", "book.scaffold.new", "vmap/axes", "exercise")
    assert done.returncode == 0, done.stderr
    text = (empty / "examples/exercises/axes.py").read_text()
    assert "(m, n)" in text and "device_put" not in text
    assert "docs/vmap/axes.md wants above its last box\n\n## TODO" in done.stdout
    assert "from examples.exercises.axes import check" in done.stdout


def put_known(root, raised):
    """Write a page on the message `raised`."""
    page = (
        f'---\nerror:\n  raised: "{raised}"\n  called: [vmap]\n---\n\n# A\n\nProse.\n'
    )
    (root / "docs/errors").mkdir()
    (root / "docs/errors/name.md").write_text(page)


@pytest.mark.parametrize(
    ("raised", "message", "found"),
    [
        ("KeyError: no such axis", "KeyError: no such axis name: batch_17", True),
        ("KeyError: no such axis", "ValueError: no such axis name: batch_17", False),
        ("KeyError: no such axis", "KeyError: this axis has another name", False),
        ("KeyError: 'data'", "KeyError: 'data'", True),
        ("KeyError: 'data'", "KeyError: 'model'", False),
    ],
)
def test_a_message_that_a_page_has_is_told_and_nothing_written(
    empty, raised, message, found
):
    put_known(empty, raised)
    done = python(empty, "-m", "book.scaffold.new", "errors/rank", message)
    assert (done.returncode, (empty / ERROR).exists()) == (int(found), not found)
    assert ("docs/errors/name.md" in done.stderr) == found


def test_a_page_on_another_message_with_the_same_words_is_written_anyway(empty):
    put_known(empty, "ValueError: rows do not fit into")
    message = "ValueError: columns and rows do not fit into"
    new = "-m", "book.scaffold.new", "errors/rank", message
    assert "say `anyway` behind it" in python(empty, *new).stderr
    assert python(empty, *new, "anyway").returncode == 0
    assert "columns and rows do not fit into" in (empty / ERROR).read_text()


def test_the_commands_that_follow_are_said_in_their_order(empty):
    said = python(empty, "-m", "book.scaffold.new", "vmap/axes").stdout
    assert said.index("live") < said.index("said -- axes") < said.index("page -- vmap")


def test_a_page_on_an_error_is_about_a_message(empty):
    done = python(empty, "-m", "book.scaffold.new", "errors/rank")
    assert done.returncode == 1 and not (empty / ERROR).exists()
    assert "which message?" in done.stderr
