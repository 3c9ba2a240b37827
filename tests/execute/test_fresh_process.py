"""A fresh cell is a program of its own, in a Python where nothing of JAX is set."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from book.execute import fresh_process, kernel

PRINTS = """import os
import jax

print(sorted(name for name in os.environ if name.startswith(("JAX_", "XLA_"))))
print(jax.device_count())"""


def run(source, folder):
    work = folder / "work"
    work.mkdir(exist_ok=True)
    env = dict(os.environ) | {"JAX_NUM_CPU_DEVICES": "8", "XLA_FLAGS": "--no_such"}
    program = fresh_process.start(source, env, work, None)
    return asyncio.run(fresh_process.outputs_of(program, work))


@pytest.fixture(scope="module")
def built(shared):
    """A book of a page that starts JAX, fails and proves in programs of their own."""
    shared.page(
        "starting",
        "import jax\njax.device_count()",
        f":fresh:\n{PRINTS}",
        ':fresh:\n:raises: "ValueError: odd"\nx = 1\nraise ValueError("an odd thing")',
        ":fresh:\n:check:\nimport jax\nassert jax.device_count() == 1",
        "x = 2\nx",
        kernel="mesh-of-eight",
    )
    result = shared.build()
    assert result.code == 0, result.said
    return shared


def test_nothing_of_jax_is_set_in_a_fresh_cell(built):
    text = re.sub("<[^>]+>", "", built.text("starting"))
    assert "\n8\n" in text.replace("&#39;", "'")
    assert "[]\n1\n" in text


def test_the_error_that_a_fresh_cell_declares_is_shown(built):
    assert "ValueError: an odd thing" in built.text("starting")


def test_a_fresh_cell_is_a_program_already_and_no_part_of_another(built):
    folder = built.docs / "_build" / "snippets" / "starting"
    programs = {p.name: p.read_text() for p in folder.glob("*.py")}
    assert set(programs) == {"cell1.py", "cell5.py"}
    assert "ValueError" not in programs["cell5.py"]


BAD = {
    "key": ("raise KeyError('x')", "raised KeyError: 'x' at `raise KeyError('x')`"),
    "exit": ("import sys\nsys.exit(3)", "raised SystemExit: 3"),
    "abort": ("import os\nos.abort()", "raised SystemExit: ended by SIGABRT"),
    "warns": ("import sys\nprint('hm', file=sys.stderr)", "wrote to stderr: hm"),
    "other": (":raises: TypeError\nraise KeyError", "'TypeError', but raised KeyError"),
    "fine": (":raises: TypeError\n1", "declares 'TypeError', but raised nothing"),
    "loops": (
        "import subprocess\nopen('CHILD', 'w').write(str(subprocess.Popen("
        "['sleep', '600'], start_new_session=True).pid))\nwhile True: pass",
        "was still running, and the page has used 3",
    ),
}


def test_a_fresh_cell_that_fails_fails_its_page(book):
    child = book.root / "child"
    for name, (source, _) in BAD.items():
        source = source.replace("CHILD", str(child))
        book.page(name, f":fresh:\n{source}", budget=3)
    built = book.build()
    assert built.code == 1
    for name, (_, said) in BAD.items():
        begin = f"{name}, cell 1: "
        lines = [line for line in built.said.splitlines() if begin in line]
        assert len(lines) == 1 and said in lines[0], name
    assert not Path("/proc", child.read_text()).exists()


def test_messages_of_several_lines_are_whole(tmp_path):
    *_, error = run("print(1)\nraise RuntimeError('a:\\n  b\\nc')", tmp_path)
    assert (error.ename, error.evalue) == ("RuntimeError", "a:\n  b\nc")
    *_, error = run("import json\njson.loads('')", tmp_path)
    assert error.ename == "JSONDecodeError"


@pytest.mark.parametrize("link", ["", " from cause"])
def test_the_cause_of_an_error_is_part_of_the_error(link, tmp_path):
    source = f"""import sys
print("hm", file=sys.stderr)
try:
    1 / 0
except ZeroDivisionError as cause:
    raise ValueError("late"){link}"""
    stderr, error = run(source, tmp_path)
    assert stderr.text == "hm\n"
    assert (error.ename, error.evalue) == ("ValueError", "late")


def test_a_sitecustomize_of_somebody_else_runs_and_the_path_is_as_without(tmp_path):
    page, other = tmp_path / "page", tmp_path / "other"
    page.mkdir()
    other.mkdir()
    (other / "sitecustomize.py").write_text("print('it', 'ran')\n")
    watch = kernel.watch_other_pythons(page, tmp_path)
    for path, said in ((other, "it ran\n"), (tmp_path, "")):
        show = "import sys; print(*sys.path[:2])"
        env = dict(os.environ) | {"PYTHONPATH": f"{watch}{os.pathsep}{path}"}
        command = [sys.executable, "-P", "-c", show]
        shown = subprocess.run(command, env=env, check=True, capture_output=True)
        assert shown.stdout.decode().startswith(f"{said}{path} ")
        assert not shown.stderr
