"""A program is run as its reader will run it: alone, in an empty folder."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.launcher import Launcher

# A program that speaks of the environment gets an interpreter of its own.
OWN = "import os; os.environ['HERE'] = '1'\n"
COUNT = "import jax\nprint(jax.device_count('cpu'))"


@pytest.fixture(params=["", OWN], ids=["forked", "own interpreter"])
def run(launcher, request):
    """Run a program in a process of either kind."""
    return lambda program, limit=60: launcher.run(request.param + program, limit)


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("print(3)", 0, "3\n"),
        ("import sys; print('é', file=sys.stderr); sys.exit()", 0, "é\n"),
        ("import os; assert os.listdir() == []", 0, ""),
        ("import sys; print(__name__, sys.argv[1:])", 0, "__main__ []\n"),
        ("import sys; print(repr(sys.stdin.read()))", 0, "''\n"),
        ("raise SystemExit(7)", 7, ""),
        ("raise SystemExit('left')", 1, "left\n"),
        ("import os; os._exit(5)", 5, ""),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL, ""),
    ],
)
def test_its_exit_status_and_what_it_said_come_back(run, program, code, said):
    assert run(program) == (code, said)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("assert 1 == 2, 'not so'", "AssertionError: not so"),
        ("x = = 1", "SyntaxError"),
        ("jax.devices()", "NameError: name 'jax' is not defined"),
        ("jnp.ones(3)", "NameError"),
    ],
)
def test_a_failure_says_why(run, program, said):
    code, output = run(program)
    assert code == 1
    assert said in output


def test_an_error_is_shown_from_the_program_on(run):
    code, said = run("def f():\n    return 1 / 0\nf()")
    assert code == 1
    lines = said.strip().splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "program.py" in lines[1]
    assert lines[-1] == "ZeroDivisionError: division by zero"


def test_its_time_is_limited_and_what_it_said_is_kept(run):
    code, said = run("print('said')\nwhile True: pass", 2)
    assert (code, said) == (-signal.SIGALRM, "said\n")


@pytest.mark.parametrize("module", ["book", "examples", "conftest"])
def test_the_repository_is_not_on_its_path(pytestconfig, monkeypatch, root, module):
    monkeypatch.chdir(root)
    monkeypatch.setenv("PYTHONPATH", f"{root}{os.pathsep}{root / 'docs'}")
    with Launcher(pytestconfig.target) as launcher:
        for own in ("", OWN):
            code, said = launcher.run(f"{own}import {module}")
            assert code == 1
            assert f"No module named '{module}'" in said


def test_the_environment_of_the_tests_does_not_help_a_program(
    monkeypatch, pytestconfig
):
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=3")
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    program = f"{COUNT}\nprint(jax.numpy.ones(1).dtype, __debug__)"
    with Launcher(pytestconfig.target) as launcher:
        for own in ("", OWN):
            assert launcher.run(own + program) == (0, "1\nfloat32 True\n")


def test_programs_leave_nothing_to_each_other(run):
    line = "import jax\njax.config.update('jax_num_cpu_devices', 4)\njax.mine = 3\n"
    look = "\nprint(hasattr(jax, 'mine'), __import__('os').listdir())"
    assert run(f"{line}open('left', 'w').close()\n{COUNT}")[1] == "4\n"
    assert run(COUNT + look) == (0, "1\nFalse []\n")


@pytest.mark.parametrize("how", ["import os", "from os import environ"])
def test_what_a_program_says_to_the_environment_is_heard(launcher, how):
    environ = "os.environ" if how == "import os" else "environ"
    program = f"{how}\n{environ}['JAX_NUM_CPU_DEVICES'] = '3'\n{COUNT}"
    assert launcher.run(program) == (0, "3\n")
    assert launcher.run(COUNT) == (0, "1\n")


def test_the_import_of_jax_is_paid_once(launcher):
    launcher.run("import jax")
    begin = time.perf_counter()
    for _ in range(10):
        assert launcher.run("import jax.numpy") == (0, "")
    assert time.perf_counter() - begin < 5


def test_what_fails_is_run_once_more_in_an_interpreter_of_its_own(launcher):
    # Only in the fork of a Python that has imported JAX is it there so soon.
    program = "import sys\nassert 'jax' not in sys.modules\nprint('alone')"
    assert launcher.run(program) == (0, "alone\n")


def test_many_programs_run_at_a_time(launcher, tmp_path):
    pipes = [tmp_path / name for name in ("ping", "pong")]
    for pipe in pipes:
        os.mkfifo(pipe)
    ping, pong = map(repr, map(str, pipes))
    programs = [
        f"open({ping}, 'w').write('a')\nprint(open({pong}).read())",
        f"print(open({ping}).read())\nopen({pong}, 'w').write('b')",
    ]
    with ThreadPoolExecutor() as pool:
        assert list(pool.map(launcher.run, programs)) == [(0, "b\n"), (0, "a\n")]


def test_nothing_is_left_running(pytestconfig):
    with Launcher(pytestconfig.target) as launcher:
        _, parent = launcher.run("import os; print(os.getppid())")
    with pytest.raises(ProcessLookupError):
        os.kill(int(parent), 0)
