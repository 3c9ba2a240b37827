"""Every page that is not in the cache runs, and every failure is told in one go."""

import fcntl
import os
import re
import subprocess
import sys

import pytest

from book.execute.scheduler import cores

FAILING = {
    "false": (
        "x = 3\nassert x == 4",
        "cell 1: raised AssertionError at `assert x == 4`",
    ),
    "raising": ("x = 1\n1 / 0", "cell 1: raised ZeroDivisionError: division by zero"),
    "warning": (
        "import warnings\nassert True\nwarnings.warn('old ways', stacklevel=1)",
        r"cell 1: wrote to stderr: .*old ways",
    ),
    "stderr": (
        "import os\nassert True\nos.write(2, b'from below\\n');",
        "cell 1: wrote to stderr: from below",
    ),
    "undeclared": (
        ':raises: "ValueError: odd"\nraise TypeError("odd")',
        "cell 1: declares 'ValueError: odd', but raised TypeError: odd",
    ),
    "otherwords": (
        ':raises: "ValueError: even"\nraise ValueError("odd")',
        "cell 1: declares 'ValueError: even', but raised ValueError: odd",
    ),
    "peaceful": (
        ":raises: ValueError\nassert True",
        "cell 1: declares 'ValueError', but raised nothing",
    ),
    "path": (
        "import sys\nassert True\nprint(sys.prefix)",
        "cell 1: shows .*, which is this machine's own",
    ),
    "address": (
        "assert True\nobject()",
        "cell 1: shows 'at 0x[0-9a-f]+', an address, which is another in every build; "
        "print what the object holds",
    ),
    "decimal": (
        "assert True\nclass Tracer:\n    __repr__ = lambda self: f'<Tracer {id(self)}>'"
        "\nTracer()",
        r"cell 1: shows '<Tracer \d+', an address, which is another in every build",
    ),
    "notpython": ("assert True\nx = = 3", "cell 1: is not Python on line 2: invalid"),
}

SPIN = """
import time
begin = time.process_time()
while time.process_time() < begin + 0.8:
    pass
"""


@pytest.fixture(scope="module")
def failed(shared):
    """One build of a book in which all but two pages fail."""
    for name, (cell, _) in FAILING.items():
        shared.page(name, cell)
    shared.page("second", "assert True", "assert False, 'in the second cell'")
    shared.page("dying", "assert True", "import os\nos.kill(os.getpid(), 9)")
    shared.page("leaving", "import os\nos._exit(7)")
    shared.page("endless", "assert True\nwhile True: pass", budget=3)
    shared.page("steps", "assert True\n" + SPIN, *[SPIN] * 5, budget=2)
    starting = "subprocess.run([sys.executable, '-c', spin])"
    shared.page(
        "starter",
        f"assert True\nimport subprocess, sys\nspin = {SPIN * 4!r}\n{starting}",
        budget=2,
    )
    shared.page("waiting", "assert True\nimport time\ntime.sleep(1.5)", budget=1)
    shared.page("fine", "assert True\nprint('fine', 'page')")
    shared.page(
        "declared", ':raises: "ValueError: odd"\nraise ValueError("odd\\nmore")'
    )
    shared.page(
        "hidden", "assert True", prose=":::{dropdown} A\n```{code-cell}\n1\n```\n:::"
    )
    shared.page("broken", "assert True").write_text(
        "---\nfile_format: [\n---\n# B\n```{code-cell}\n1\n```\n"
    )
    shared.page("plain", "assert True", prose="[](nowhere.md)")
    shared.page(
        "gone",
        "assert True",
        prose="```{literalinclude} ../examples/here.py\n:pyobject: gone\n```",
    )
    shared.write("examples/here.py", "def here():\n    return 1\n")
    return shared.build()


def test_a_build_with_a_failure_does_not_exit_with_0(failed):
    assert failed.code != 0


def test_a_failure_is_one_even_where_warnings_are_not_errors(book):
    book.page("false", "assert 1 == 2")
    command = [sys.executable, "-m", "sphinx", "-q", str(book.docs), str(book.html)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize("name", FAILING)
def test_a_failure_names_page_cell_and_reason(failed, name):
    [line] = [x for x in failed.said.splitlines() if f"WARNING: {name}, " in x]
    assert re.search(FAILING[name][1], line), line
    assert f"{name}.md:" in line


WARNING = {
    "deprecated": (
        "import warnings\nassert True\n"
        "warnings.warn('old ways', DeprecationWarning, stacklevel=1)",
        "DeprecationWarning: old ways",
    ),
    "user": (
        "import warnings\nassert True\nwarnings.warn('odd ways', stacklevel=1)",
        "UserWarning: odd ways",
    ),
    "logged": (
        "import logging\nassert True\nlogging.getLogger('of.a.page').warning('a log')",
        "a log",
    ),
    "numpy": (
        "import numpy as np\nassert True\nprint(np.ones(1) / np.zeros(1))",
        "RuntimeWarning: divide by zero",
    ),
}


def test_a_warning_fails_its_page_whatever_the_caller_has_silenced(book):
    for name, (cell, _) in WARNING.items():
        book.page(name, cell)
    build = ["-m", "sphinx", "-W", "--keep-going", str(book.docs), str(book.html)]
    for options, silenced in (
        ([], "ignore::DeprecationWarning"),
        ([], "ignore"),
        (["-W", "ignore"], ""),
    ):
        built = subprocess.run(
            [sys.executable, *options, *build],
            env=os.environ | {"PYTHONWARNINGS": silenced, "NO_COLOR": "1"},
            capture_output=True,
            check=False,
            text=True,
        )
        assert built.returncode == 1, built.stderr
        for name, (_, said) in WARNING.items():
            why = rf"WARNING: {name}, cell 1: wrote to stderr: .*{said}"
            assert re.search(why, built.stderr), built.stderr


WRITING = f"""
import contextlib, fcntl, os
with contextlib.suppress(OSError):  # a pipe that nobody has read, if it is one
    fcntl.fcntl(2, {getattr(fcntl, "F_SETPIPE_SZ", 0)}, 1 << 20)
assert True
count = os.write(2, b"\\n" * 900_000 + b"from below\\n")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="makes a pipe larger")
def test_what_is_written_below_python_is_of_the_cell_that_wrote_it(book):
    """However much it is, and however soon the cell ends."""
    book.page("late", "x = 1", WRITING.strip(), *["assert True"] * 3)
    built = book.build()
    [line] = [line for line in built.said.splitlines() if "WARNING" in line]
    assert "late, cell 2: wrote to stderr: from below" in line


def test_what_a_program_prints_that_a_cell_starts_is_shown(book):
    book.page("echo", "import os\nassert os.system('echo it printed') == 0")
    run = "import subprocess, sys\nsubprocess.run(['echo', 'there'], stdout=sys.stdout)"
    later = "import faulthandler\nfaulthandler.dump_traceback_later(300)"
    book.page("streams", f"{run}\n{later}\nassert sys.stderr.fileno() == 2")
    built = book.build()
    assert built.code == 0, built.said
    assert "it printed\n" in book.text("echo")
    assert "there\n" in book.text("streams")


def test_the_cell_that_failed_is_the_one_named(failed):
    assert "second, cell 2: raised AssertionError: in the second cell" in failed.said


def test_a_killed_kernel_is_told_from_a_failing_cell(failed):
    assert re.search(r"dying, cell 2: its kernel was killed by SIGKILL", failed.said)
    assert "memory" in failed.said
    assert "leaving, cell 1: its kernel stopped with exit status 7" in failed.said


def test_a_cell_that_never_ends_is_stopped_at_the_budget_of_its_page(failed):
    said = r"endless, cell 1: was still running, and the page has used 3\.\d s of proc"
    assert re.search(said, failed.said)
    assert "the page's budget is 3 s" in failed.said


def test_a_budget_counts_small_steps_and_what_a_page_starts(failed):
    assert re.search(r"steps, cell [2-5]: .*the page has used [23]\.\d s", failed.said)
    assert re.search(r"starter, cell 1: .*the page's budget is 2 s", failed.said)


def test_waiting_costs_nothing(failed, shared):
    assert "waiting" in shared.record()["pages"]


def test_what_would_silently_not_run_is_an_error(failed):
    assert "hidden: a code cell inside {dropdown} would not run" in failed.said
    assert "broken: its front matter is not YAML" in failed.said


def test_sphinx_reports_its_own_in_the_same_run(failed):
    assert "nowhere" in failed.said
    assert len(re.findall(r"gone.md:1[34]: WARNING", failed.said)) == 1
    assert re.search(r"[Oo]bject named 'gone' not found", failed.said)


def test_the_other_pages_are_executed_all_the_same(failed, shared):
    assert shared.record()["pages"]["fine"]["executed"]
    assert "fine page" in shared.text("fine")


def test_a_declared_error_is_shown_with_all_its_lines(failed, shared):
    assert "declared" in shared.record()["pages"]
    page = shared.text("declared")
    assert "ValueError: odd\nmore\n" in page
    assert "Traceback" not in page


def test_a_failing_page_says_that_nothing_on_it_is_verified(failed, shared):
    assert "This page failed in this build" in shared.text("false")
    assert "false" not in shared.record()["pages"]


def test_progress_is_told_page_by_page(failed):
    assert re.search(r"\[\d+/\d+\] fine: running 2 cells?", failed.said)
    assert re.search(r"\] fine: passed in [\d.]+ s", failed.said)
    assert re.search(r"\] false: failed after [\d.]+ s", failed.said)


def test_a_repaired_page_passes(book):
    book.page("mended", "assert 1 == 2")
    assert book.build().code != 0
    book.page("mended", "assert 1 == 1")
    assert book.build().code == 0
    assert "nothing on it is verified" not in book.text("mended")


STAMPS = """
import time
assert True
print("began", time.time())
time.sleep({})
print("ended", time.time())
"""


def stamps(book, name: str) -> list[tuple[float, float]]:
    """When each cell of a page made of STAMPS began and ended."""
    times = re.findall(r"(?:began|ended) ([\d.]+)", book.text(name))
    return list(zip(map(float, times[::2]), map(float, times[1::2]), strict=True))


def test_the_page_that_took_longest_starts_first(book):
    for name, seconds, budget in ("a", 0.1, 50), ("b", 1.5, 30), ("c", 0.3, 40):
        book.page(name, STAMPS.format(seconds).strip(), budget=budget)
    order = re.compile(r"\] (\w): running")
    first = book.build("-D", "book_jobs=1")
    assert first.code == 0, first.said
    assert order.findall(first.said) == ["a", "c", "b"]  # by budget, for want of better
    for name, seconds in ("a", 0.1), ("b", 1.5), ("c", 0.3):
        book.page(name, STAMPS.format(seconds).strip() + "\n# edited")
    assert order.findall(book.build("-D", "book_jobs=1").said) == ["b", "c", "a"]


def test_one_page_more_runs_than_there_are_cores(book):
    for number in range(len(cores()) + 3):
        book.page(f"page{number}", "assert True")
    built = book.build()
    assert built.code == 0, built.said
    before = built.said.partition(": passed in")[0]
    assert len(re.findall(r"page\d+: running", before)) == len(cores()) + 1


def test_only_pages_on_hardware_that_one_kernel_may_use_wait_for_each_other(book):
    cpu = (book.docs / "targets.toml").read_text().split("[gpu]")[0]
    one = '[one]\nsays = "one"\nplatform = "cpu"\ndevices = 1\njobs = 1\n'
    env = 'env = { JAX_PLATFORMS = "cpu", JAX_NUM_CPU_DEVICES = "1" }\n'
    book.targets(cpu + one + env)
    cell = STAMPS.format(1).strip()
    book.page("first", cell)
    book.page("second", cell)
    book.page("simulated", *[cell] * 2, kernel="mesh-of-eight")
    built = book.build("-D", "book_target=one")
    assert built.code == 0, built.said
    (first,), (second,) = stamps(book, "first"), stamps(book, "second")
    assert first[1] < second[0] or second[1] < first[0]
    began, ended = stamps(book, "simulated")[0][0], stamps(book, "simulated")[-1][1]
    assert any(began < e and ended > b for b, e in (first, second))


def test_what_a_target_calls_quiet_says_nothing_with_all_lines_that_belong_to_it(book):
    def cell(text: str) -> str:
        return f"import os\nassert os.write(2, {text.encode()!r})"

    quiet = "E1127 05:07:02.1 17 a.cc:1] ExecutePrepareWithOomRetries failed: "
    quiet += "INVALID_ARGUMENT: twice\n=== Trace: ===\nexternal/a.h:3\n"
    told = "W1127 05:07:02.1 17 b.cc:2] slow\nfor a reason\n"
    book.page("silent", cell(quiet + "I1127 05:07:02.1 17 c.cc:3] found\nmore\n"))
    book.page("telling", cell(quiet + told + quiet))
    built = book.build()
    assert built.code != 0
    assert "telling, cell 1: wrote to stderr: W1127 05:07:02.1 17 b.cc:2]" in built.said
    assert "slow | for a reason [" in built.said
    assert "silent, cell" not in built.said


def test_slower_hardware_has_more_time_for_a_page(book):
    spin = SPIN.strip().replace("0.8", "{}")
    cpu = (book.docs / "targets.toml").read_text().split("[gpu]")[0]
    slow = '[slow]\nsays = "slow"\nplatform = "cpu"\ndevices = 1\nslower = 4\n'
    book.targets(cpu + slow + 'env = { JAX_PLATFORMS = "cpu" }\n')
    book.page("within", spin.format(1.5), budget=1)
    book.page("beyond", spin.format(60), budget=0.5)
    built = book.build("-D", "book_target=slow")
    assert "within: passed" in built.said
    budget = "the page's budget is 2 s, 4 times what it asks for on slow"
    assert budget in built.said


def test_a_cell_that_measures_runs_while_no_other_does(book):
    cell = STAMPS.format(0.3).strip()
    book.page("measured", cell, ":alone:\n" + cell, cell)
    book.page("other", *[cell] * 5)
    book.page("third", *[cell] * 5)
    built = book.build("-D", "book_jobs=3")
    assert built.code == 0, built.said
    began, ended = stamps(book, "measured")[1]
    others = stamps(book, "other") + stamps(book, "third")
    assert any(b < began for b, _ in others)
    assert all(e < began or b > ended for b, e in others)
    together = stamps(book, "measured")[0]
    assert any(b < together[1] and e > together[0] for b, e in others)


def test_kernels_share_the_cores_and_a_page_that_measures_has_all_of_them(book):
    cell = (
        "import os\nassert True\nmine = len(os.sched_getaffinity(0))\n"
        "print('cores:', mine, os.environ['OMP_NUM_THREADS'])"
    )
    book.page("shared", cell)
    book.page("alone", ":alone:\n" + cell)
    everything = len(os.sched_getaffinity(0))
    assert book.build("-D", "book_jobs=2").code == 0
    half = max(1, len(sorted(os.sched_getaffinity(0))[0::2]))
    assert f"cores: {half} {half}" in book.text("shared")
    assert f"cores: {everything} {everything}" in book.text("alone")


def test_a_page_runs_in_an_empty_folder_and_leaves_no_process(book):
    cell = (
        "import os, subprocess, sys\nassert os.listdir() == []\n"
        "sleep = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "child = subprocess.Popen(sleep)\n"
        "print('child', child.pid)"
    )
    book.page("parent", cell)
    assert book.build().code == 0
    pid = int(re.search(r"child (\d+)", book.text("parent"))[1])
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False
