"""A command is shown with what it wrote, not with when, where and by which thread."""

import os
import sys

import pytest

from book.draw import console

SAYS = {
    "order.py": "print('[1] b', '[0] a', '[1] c', 'end', sep='\\n')",
    "twice.py": "print('[0] a', '[0] a', '[0] b', sep='\\n')",
    "fails.py": "raise SystemExit(3)",
    "raises.py": "print('    kept')\nimport here\n",
    "both.py": "for line in ('Traceback (most recent call last):', '  File', 'on', "
    "'    code', 'KeyError: 3'): print('[0]', line)",
    "env.py": "import os\nprint(sorted(n for n in os.environ if n.startswith('JAX_')))",
    "logs.py": "print('''[0] E1122 12:00:20.378942    2383 service.cc:15] [13] 1 died. "
    "[type.googleapis.com/x='']\n[0] *** Check failure stack trace: ***\n"
    "[0]     @     0x7f01  absl::Send()''')",
    "long.py": "print('[0] ' + 'word ' * 30)",
    "waits.py": "import time\ntime.sleep(600)",
    "where.py": "import os\nprint(os.listdir(), os.getcwd())",
}


@pytest.fixture(autouse=True)
def examples(tmp_path, monkeypatch):
    """A repository with a few programs, on the path as a page has it."""
    folder = tmp_path / "examples" / "any"
    folder.mkdir(parents=True)
    for name, text in SAYS.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return folder


def test_it_shows_the_command_and_below_it_what_it_wrote():
    found = console("python order.py")
    assert repr(found) == "$ python order.py\n[0] a\n[1] b\n[1] c\nend"
    assert found._repr_markdown_() == f"````console\n{found!r}\n````"


def test_the_lines_between_those_chosen_become_an_ellipsis():
    assert console("python order.py", only="a|end").text == "[0] a\n…\nend"
    assert console("python twice.py", only="a").text == "[0] a\n…"
    assert console("python twice.py").text == "[0] a\n[0] a\n[0] b"


def test_another_status_than_expected_is_an_error():
    assert console("python fails.py", status=3).text == ""
    with pytest.raises(AssertionError, match="exits with 3, not 0"):
        console("python fails.py")


def test_the_last_lines_stand_in_the_line_of_the_error_that_a_build_shows():
    with pytest.raises(AssertionError) as told:
        console("python raises.py")
    assert "No module named 'here'" in str(told.value).splitlines()[0]


def test_an_error_is_shown_without_its_traceback():
    said = console("python raises.py", status=1).text
    assert said == "    kept\nModuleNotFoundError: No module named 'here'"
    assert console("python both.py").text == "[0] on\n[0] KeyError: 3"


def test_times_threads_and_stacks_are_left_out():
    assert console("python logs.py").text == "[0] 1 died."


def test_long_lines_are_wrapped_behind_the_number_of_the_process():
    first, second, *_ = repr(console("python long.py")).splitlines()[1:]
    assert first.startswith("[0] word") and second.startswith("    word")


def test_nothing_steers_jax_but_the_command(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert console("python env.py").text == "[]"


def test_it_runs_in_a_folder_with_what_it_names_and_nothing_else():
    assert console("python where.py").text == "['where.py'] ."


def test_a_command_that_does_not_end_is_ended():
    with pytest.raises(TimeoutError, match=r"`python waits.py` runs for 0.5 s"):
        console("python waits.py", seconds=0.5)


def test_a_program_is_found_by_its_name_once(examples):
    with pytest.raises(LookupError, match=r"has 0 files called none.py"):
        console("python none.py")
    os.mkdir(examples / "again")
    (examples / "again" / "order.py").write_text("")
    with pytest.raises(LookupError, match=r"has 2 files called order.py"):
        console("python order.py")
