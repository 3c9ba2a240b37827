"""Runs programs as their readers will: each alone, in an empty folder.

A launcher keeps one Python that has imported JAX and nothing else, and forks it for
each program: the process is fresh, the import is paid once, and so is what XLA makes of
code that many programs share.  A program that sets the environment before it imports
JAX gets an interpreter of its own.  So does one that failed: it is run once more
exactly as its reader will, and only that counts.
"""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from book.execute import xla_cache
from book.execute.fork_server import AVAILABLE, ForkServer, ServerEnded
from book.execute.temporary_folder import TemporaryFolder
from book.hardware.targets import Target, environment


class Ended(NamedTuple):
    """How a program ended: its exit status, and what it wrote to stdout and stderr.

    The status is negative when a signal ended it; `left` are the names of the files
    and folders that it left in the empty folder in which it ran.
    """

    code: int
    out: str
    err: str
    left: tuple[str, ...] = ()


class Launcher:
    """Runs programs on `target`, from as many threads as you like; a context manager.

    A program runs for at most so many seconds, and status -SIGALRM says that its time
    was up.  What XLA compiles is kept in the folder `compiled`, or for as long as the
    launcher is.
    """

    def __init__(self, target: Target, compiled: Path | None = None):
        # What the target sets beyond the platform (how many devices, say) is for the
        # program itself to say, so it is not said here.
        env = environment(Target("", "", "", 0)) | dict(target.env)
        unset = ("JAX_NUM_CPU_DEVICES", "PYTHONPATH")
        self._env = {name: value for name, value in env.items() if name not in unset}
        self._env["PYTHONHASHSEED"] = "0"  # as in a build: sets are in one order
        self._compiled = compiled
        self._server: ForkServer | None = None
        self._folder: TemporaryFolder | None = None
        self._numbers = itertools.count()
        self._starting = threading.Lock()

    def __enter__(self) -> Launcher:
        """No Python starts before the first program."""
        self._folder = TemporaryFolder().__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """End the Python that was kept, and all that is left of the programs."""
        if self._server:
            self._server.close()
        self._folder.__exit__()

    def run(self, program: str, limit: int = 120) -> tuple[int, str]:
        """Run `program` for at most `limit` seconds: its exit status and all it said.

        Raises `ServerEnded` when the Python that forks has ended.
        """
        ended = self.finish(program, limit)
        return ended.code, ended.out + ended.err

    def finish(self, program: str, limit: int = 120, *, once: bool = False) -> Ended:
        """Run `program` for at most `limit` seconds, its output apart from its errors.

        With `once`, one that fails, as it is meant to, is not run again.
        Raises `ServerEnded` when the Python that forks has ended.
        """
        place = self._folder.path / str(next(self._numbers))
        place.mkdir()
        path, out, err = place / "program.py", place / "out", place / "err"
        path.write_text(program, encoding="utf-8")
        own = [sys.executable, "-u", "-P", str(path)]
        if not AVAILABLE:
            return _without_forks(own, _empty(place), self._env, limit)
        ways = [("program", [str(path)]), ("command", own)]
        if "environ" in program:
            ways = [("command", own)]
        for kind, arguments in ways:
            server, empty = self._python(), _empty(place)
            process = server.start(kind, arguments, empty, self._env, out, err, limit)
            code = process.wait()
            if process.lost:
                raise ServerEnded
            if once or not code:
                break
        texts = (log.read_text("utf-8", errors="replace") for log in (out, err))
        return Ended(code, *texts, _names(empty))

    def _python(self) -> ForkServer:
        with self._starting:
            if self._server is None:
                compiled = self._compiled or self._folder.path / "compiled"
                self._server = ForkServer(self._env | xla_cache.environment(compiled))
            return self._server


def _empty(place: Path) -> Path:
    """A new empty folder."""
    return Path(tempfile.mkdtemp(dir=place))


def _names(folder: Path) -> tuple[str, ...]:
    """What lies in a folder."""
    return tuple(sorted(path.name for path in folder.iterdir()))


def _without_forks(
    command: list[str], folder: Path, env: dict[str, str], limit: int
) -> Ended:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=env,
            timeout=limit,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired as error:
        return Ended(-signal.SIGALRM, error.stdout or "", error.stderr or "")
    return Ended(done.returncode, done.stdout, done.stderr, _names(folder))
