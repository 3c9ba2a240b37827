"""The files that a command runs are known before it runs."""

import pytest

from book.source.commands import files_run_by, named_programs

CELL = 'from book.draw import console\n\nconsole("python launch.py 2 hello.py")'


@pytest.fixture
def roots(tmp_path):
    """A repository with two programs, one of which imports a third file."""
    for name, text in {
        "examples/scale/launch.py": "import os",
        "examples/scale/hello.py": "from examples.train.net import init",
        "examples/train/net.py": "import jax",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return (tmp_path,)


def named(paths):
    return sorted(path.name for path in paths)


def test_programs_are_found_by_their_names(roots):
    found = named_programs("python launch.py --limit 3 2 hello.py", roots)
    assert named(found.values()) == ["hello.py", "launch.py"]


def test_a_cell_runs_what_its_commands_name_and_all_that_these_import(roots):
    assert named(files_run_by(CELL, roots)) == ["hello.py", "launch.py", "net.py"]


def test_a_module_is_a_file(roots):
    cell = 'console("python launch.py 2 -m examples.train.net")'
    assert named(files_run_by(cell, roots)) == ["launch.py", "net.py"]


def test_other_cells_run_nothing(roots):
    assert files_run_by('print("python launch.py")', roots) == set()


def test_a_command_is_written_out(roots):
    with pytest.raises(LookupError, match="plain text"):
        files_run_by('console(f"python {name}.py")', roots)
