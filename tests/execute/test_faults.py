"""Whatever goes wrong with a page or with the machine is told in one sentence."""

import contextlib
import errno
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path

import pytest
from sphinx.errors import SphinxParallelError

from book.compilers import this_machine
from book.execute import cache, signals, temporary_folder
from book.execute.fork_server import AVAILABLE, ForkServer, ServerEnded
from book.hardware.targets import Target, environment

NOTHING = Target("cpu", "", "cpu", 8)
# It writes what it started to a pipe, in a session that nobody looks after.
STARTING = """
import os, subprocess, sys
assert True
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
child = subprocess.Popen(sleep, start_new_session=True)
with open({!r}, "w") as pipe:
    pipe.write(f"{{os.getpid()}} {{child.pid}}")
"""
USES_TEMPORARY_FILES = """
import multiprocessing, tempfile

with tempfile.TemporaryFile() as file:
    file.write(b"1")
multiprocessing.Manager().dict()["a"] = 1
"""
LOOK = "import time\ntime.sleep(600)"


@pytest.fixture
def server():
    """A Python that forks."""
    one = ForkServer(environment(NOTHING))
    yield one
    one.close()


@pytest.fixture
def place():
    """A folder for temporary files, with a name short enough for sockets."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


@pytest.fixture
def pipe(tmp_path) -> Path:
    """A pipe by which a page tells that it is there."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def ended(*handles: int) -> bool:
    """Whether the processes behind pidfds end within some seconds."""
    ready = [select.select([handle], [], [], 20)[0] for handle in handles]
    for handle in handles:
        os.close(handle)
    return all(ready)


def told(pipe: Path) -> list[int]:
    """Handles of the processes that a page tells of, those that have ended apart."""
    found = []
    for pid in pipe.read_text().split():
        with suppress(ProcessLookupError):
            found.append(os.pidfd_open(int(pid)))
    return found


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_a_signal_ends_a_build_and_all_that_it_started(book, place, pipe, number, code):
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("these tests are told to ignore this signal, as below nohup")
    book.page("busy", STARTING.format(str(pipe)), LOOK)
    book.page("other", "assert True", LOOK)
    process = book.start("-D", "book_jobs=2", env={"TMPDIR": str(place)})
    processes = told(pipe)
    process.send_signal(number)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == code
    assert f"The build was stopped by {number.name}." in said
    assert "Traceback" not in said
    assert "WARNING" not in said
    assert ended(*processes)
    assert list(place.iterdir()) == []
    for name in ("busy", "other"):
        book.page(name, "assert True\nprint('it', 'ran')")
    built = book.build(env={"TMPDIR": str(place)})
    assert built.code == 0, built.said
    assert "it ran" in book.text("busy") and "it ran" in book.text("other")


def test_what_a_killed_build_leaves_the_next_one_removes(book, place, pipe):
    book.page("busy", STARTING.format(str(pipe)), LOOK)
    process = book.start(env={"TMPDIR": str(place)})
    processes = told(pipe)
    process.kill()
    process.communicate(timeout=30)
    assert ended(*processes)
    assert list(place.glob("book-*"))
    (place / "book-of-somebody").mkdir()
    book.page("busy", "assert True")
    assert book.build(env={"TMPDIR": str(place)}).code == 0
    assert [path.name for path in place.iterdir()] == ["book-of-somebody"]


def test_what_a_page_of_a_killed_build_left_running_the_next_one_ends(place):
    """As when the fork server, which would have ended it, was killed as well."""

    def sleeping(folder):
        env = {**os.environ, temporary_folder.MARK: f"{folder}/1/ipython"}
        sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
        return subprocess.Popen(sleep, env=env, start_new_session=True)

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("tempfile.tempdir", str(place))
        with temporary_folder.TemporaryFolder() as of_another:
            dead = place / "book-dead"
            dead.mkdir()
            (dead / "lock").touch()
            left, running = sleeping(dead), sleeping(of_another.path)
            try:
                with temporary_folder.TemporaryFolder():
                    assert left.wait(20) == -signal.SIGKILL
                    assert running.poll() is None
            finally:
                for process in (left, running):
                    process.kill()
                    process.wait()
    assert not dead.exists()


def test_a_folder_that_is_in_use_stays(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with (
        temporary_folder.TemporaryFolder() as one,
        temporary_folder.TemporaryFolder() as other,
    ):
        assert one.path.exists()
        assert other.path.exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["long" * 28, "長" * 40])  # the second has 120 bytes
def test_sockets_find_a_place_however_long_the_names_are(book, place, name):
    (place / name).mkdir()
    book.page("plain", "assert True\nprint('it', 'ran')")
    built = book.build(env={"TMPDIR": str(place / name)})
    assert built.code == 0, built.said
    assert "it ran" in book.text("plain")


@pytest.mark.parametrize("name", ["with blanks 'and' \"quotes\"", "gone", "file"])
def test_a_folder_for_temporary_files_that_is_odd_or_none_is_no_fault(
    book, place, name
):
    (place / "with blanks 'and' \"quotes\"").mkdir()
    (place / "file").touch()
    book.page("plain", "assert True\nprint('it', 'ran')", USES_TEMPORARY_FILES)
    built = book.build(env={"TMPDIR": str(place / name)})
    assert built.code == 0, built.said
    assert "it ran" in book.text("plain")


def test_a_folder_for_temporary_files_may_be_relative(book):
    (book.root / "near").mkdir()
    book.page("plain", "assert True\nprint('it', 'ran')", USES_TEMPORARY_FILES)
    built = book.build(env={"TMPDIR": "near"})
    assert built.code == 0, built.said
    assert "it ran" in book.text("plain")
    assert list((book.root / "near").iterdir()) == []


def test_a_folder_that_another_build_removed_too_early_is_made_again(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = iter([tmp_path / "gone", temporary_folder._new()])
    monkeypatch.setattr(temporary_folder, "_new", lambda: next(made))
    with temporary_folder.TemporaryFolder() as folder:
        assert folder.path.exists()


def test_no_place_at_all_is_a_sentence(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/" + "long" * 28)
    monkeypatch.setattr(temporary_folder, "OTHERS", ())
    with pytest.raises(temporary_folder.NoFolder, match="Set TMPDIR to a short path"):
        temporary_folder.TemporaryFolder()


def test_a_build_that_finds_no_place_at_all_says_so_and_no_more(book):
    with (book.docs / "conf.py").open("a") as conf:
        conf.write("from book.execute import temporary_folder\n")
        conf.write("temporary_folder.OTHERS = ()\n")
    place = book.root / ("long" * 28)
    place.mkdir()
    book.page("index", "1")
    built = book.build(env={"TMPDIR": str(place)})
    assert built.code
    assert "Set TMPDIR to a short path." in built.said
    assert "Traceback" not in built.said and "Extension error" not in built.said


def test_a_server_kills_what_a_process_leaves(server, tmp_path, pipe):
    program = tmp_path / "program.py"
    program.write_text(STARTING.format(str(pipe)))
    log = tmp_path / "log"
    child = server.start("program", [str(program)], tmp_path, {}, log, log)
    processes = told(pipe)
    assert ended(*processes)
    assert child.wait(20) == 0, log.read_text()


def test_a_server_that_dies_takes_its_children_and_says_so(server, tmp_path):
    child = server.start("command", ["/bin/sleep", "600"], tmp_path, os.environ)
    process = os.pidfd_open(child.pid)
    os.kill(server.pid, signal.SIGKILL)
    assert ended(process)
    assert child.wait(20) == -9
    assert child.lost
    with pytest.raises(ServerEnded):
        server.start("command", ["/bin/true"], tmp_path, {})


def test_when_the_server_dies_another_one_starts(book):
    book.page(
        "guilty", "import os\nassert True\nos.kill(os.getppid(), 9)\nwhile 1: pass"
    )
    book.page("innocent", "assert True\nprint('it', 'ran')", budget=1)
    built = book.build("-D", "book_jobs=1")
    assert "guilty, cell 1: its kernel went down with the Python" in built.said
    assert "it ran" in book.text("innocent")
    assert len(re.findall("WARNING", built.said)) == 1


def test_a_page_that_stops_the_server_holds_up_nothing(book):
    stop = "import os, signal\nassert True\nos.kill(os.getppid(), signal.SIGSTOP)"
    book.page("guilty", stop)
    book.page("innocent", "assert True\nprint('it', 'ran')", budget=1)
    built = book.build("-D", "book_jobs=1")
    assert built.code == 0, built.said
    assert "it ran" in book.text("innocent")


OUTPUTS = {
    "line": ("print('x' * 50_000_000)", "puts out more than 1,000,000 letters"),
    "long": ("print('x' * 30_000)", "puts out a line of 30,000 letters"),
    "lines": (
        "for _ in range(500_000):\n    print('x' * 99)",
        "puts out more than 1,000,000 letters",
    ),
    "error": ("raise ValueError('x' * 3_000_000)", "more than 1,000,000 letters"),
}


def test_what_is_put_out_has_an_end_and_no_escape_codes(book):
    for name, (cell, _) in OUTPUTS.items():
        book.page(name, f"assert True\n{cell}")
    escapes = r"'\x1b[31mred\x1b[0m \x1b]8;;x\x07link\x00'"
    book.page("escapes", f"assert True\nprint({escapes})", escapes[1:-1].join("''"))
    built = book.build()
    for name, (_, reason) in OUTPUTS.items():
        assert re.search(f"WARNING: {name}, cell 1: .*{reason}", built.said), built.said
    assert len(built.said) < 100_000
    assert not set(book.text("escapes")) & {"\x1b", "\x00", "\x07"}
    assert "red" in book.text("escapes")
    assert not list((book.docs / "_build" / "cache").glob("*/li*"))


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*kept\.json'"):
        cache.write_atomically(tmp_path / "in" / "kept.json", "text")
    assert list((tmp_path / "in").iterdir()) == []


@pytest.mark.parametrize("name", ["/book/page.html", None])
def test_a_build_on_a_full_disk_ends_with_a_sentence(name):
    error = OSError(errno.ENOSPC, "No space left on device", name)
    said = f"{name or 'made'} could not be written: No space left on device; make"
    with pytest.raises(SystemExit, match=said):
        signals.explain_unwritable(error, Path("made"))
    signals.explain_unwritable(ValueError("of a page"), Path("made"))
    signals.explain_unwritable(None, Path("made"))


@pytest.mark.parametrize("files", [(), ("a.md",), ("a.md", None, "b.txt")])
def test_what_stops_another_process_of_a_build_is_the_same_sentence(files):
    error = OSError(errno.ENOSPC, "No space left on device", *files)
    words = traceback.format_exception_only(error)[0].strip()
    said = f"{(files or ('made',))[-1]} could not be written: No space left on device;"
    with pytest.raises(SystemExit, match=said):
        signals.explain_unwritable(SphinxParallelError(words, ""), Path("made"))
    signals.explain_unwritable(SphinxParallelError("ValueError: 3", ""), Path("made"))


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b"\xff\x00", b'{"key": 1}'])
def test_a_malformed_file_was_made_for_nothing_there_is(tmp_path, text):
    path = tmp_path / "kept.json"
    path.write_bytes(text)
    assert this_machine.kept_key(path) == (1 if b"key" in text else None)
    assert this_machine.kept_key(tmp_path / "gone.json") is None


def test_malformed_files_of_former_builds_are_made_anew(book):
    book.page("plain", "assert True\nprint('it', 'ran')")
    assert book.build().code == 0
    made = book.docs / "_build" / "snippets" / "plain" / "cell1.py"
    whole = made.read_bytes()
    made.write_bytes(b"\xff\x00")
    assert book.build().code == 0
    assert made.read_bytes() == whole


def test_a_program_that_is_not_python_is_named(book):
    book.write("examples/broken.py", "x = = 3\n")
    (book.root / "examples" / "latin.py").write_bytes("x = 'é'\n".encode("latin-1"))
    book.page("uses", "from examples.broken import x\nassert x")
    book.page("reads", "from examples.latin import x\nassert x")
    said = book.build().said
    lost = "what it imports cannot be read: examples"
    assert f"uses: {lost}/broken.py, line 1, is not Python: invalid syntax" in said
    assert f"reads: {lost}/latin.py is not UTF-8" in said
    assert "Traceback" not in said


def test_a_user_without_a_name_and_a_home_can_build(book, monkeypatch):
    # The name of a user comes from these, or from the system's list of users.
    book.write(
        "nobody/sitecustomize.py",
        "import pwd\n\ndef missing(uid):\n    raise KeyError(uid)\n\n"
        "pwd.getpwuid = missing\n",
    )
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    book.page("plain", "assert True\nprint('it', 'ran')")
    built = book.build(env={"PYTHONPATH": str(book.root / "nobody")})
    assert built.code == 0, built.said
    assert "it ran" in book.text("plain")


STRANGER = ["unshare", "--user", "--map-user=54321"]


@pytest.mark.skipif(
    not shutil.which("unshare") or subprocess.run([*STRANGER, "true"]).returncode != 0,
    reason="the machine makes no user ids",
)
def test_a_user_id_without_an_account_can_build(book):
    book.page("plain", "assert True\nprint('it', 'ran')")
    names = ("LOGNAME", "USER", "LNAME", "USERNAME", "HOME")
    known = {name: text for name, text in os.environ.items() if name not in names}
    build = [sys.executable, "-m", "sphinx", "-W", str(book.docs), str(book.html)]
    subprocess.run([*STRANGER, *build], check=True, env=known)
    assert "it ran" in book.text("plain")


@pytest.mark.skipif(not AVAILABLE, reason="kernels are forked on Linux only")
def test_a_kernel_that_ends_before_it_answers_says_why(book):
    fails = "import signal\n\ndef fails(limit):\n    raise RuntimeError('no alarm')\n"
    book.write("docs/shim/sitecustomize.py", f"{fails}\nsignal.alarm = fails\n")
    known = (book.docs / "targets.toml").read_text()
    book.targets(known.replace("env = {", 'env = { PYTHONPATH = "shim",', 1))
    book.page("plain", "assert True")
    said = book.build().said
    why = "its kernel did not start: it died before it answered: RuntimeError: no alarm"
    assert f"WARNING: plain, cell 1: {why}" in said


def test_the_key_knows_the_versions_of_what_is_imported():
    names = [name for name, _ in cache.versions(b"import os, pytest\nx = 'sphinx'\n")]
    assert "pytest" in names
    assert "numpy" in names
    assert not {"os", "sphinx"} & set(names)
    assert "orbax" in dict(cache.versions(b"import orbax.checkpoint as ocp"))


BUSY = "while True: pass"


def test_a_busy_machine_makes_a_build_slow_never_wrong(book):
    spin = "import time\nend = time.process_time() + 2\nassert end\n"
    spin += "while time.process_time() < end: pass"
    book.page("near", spin, budget=3)
    book.page("measuring", "assert True", f":alone:\n{spin}", budget=3)
    count = 2 * len(os.sched_getaffinity(0))
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
            stack.callback(loop.kill)
        built = book.build()
    assert built.code == 0, built.said
