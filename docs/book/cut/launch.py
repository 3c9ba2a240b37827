"""A program is run as its reader will run it: alone, in an empty folder.

A launcher keeps one Python that has imported JAX and nothing else, and forks it for
each program: the process is fresh, the import is paid once.  A program that speaks to
the environment before it imports JAX gets an interpreter of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from book.targets import Target, environment

_SERVER = """
import json, os, runpy, signal, sys
import jax, jax.numpy
for line in sys.stdin:
    ask = json.loads(line)
    child = os.fork()
    if child == 0:
        with open("/dev/null") as nothing, open(ask["log"], "wb", 0) as log:
            os.dup2(nothing.fileno(), 0)
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        os.chdir(ask["folder"])
        signal.alarm(ask["limit"])
        sys.argv = [ask["path"]]
        try:
            runpy.run_path(ask["path"], run_name="__main__")
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
            if not isinstance(code, int):
                print(code, file=sys.stderr)
                code = 1
        except BaseException as error:
            whole = trace = error.__traceback__
            while trace and trace.tb_frame.f_code.co_filename != ask["path"]:
                trace = trace.tb_next
            trace = trace or whole
            sys.excepthook(type(error), error.with_traceback(trace), trace)
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])), flush=True)
"""


class Launcher:
    """Runs programs on `target`, one at a time; a context manager."""

    def __init__(self, target: Target):
        # What the target sets beyond the platform (how many devices, say) is for the
        # program itself to say, so it is not said here.
        own = {k: v for k, v in target.env.items() if k != "JAX_NUM_CPU_DEVICES"}
        whole = environment(Target("", "", "", 0)) | own
        self._env = {k: v for k, v in whole.items() if not k.startswith("PYTHON")}
        self._server: subprocess.Popen | None = None

    def __enter__(self) -> Launcher:
        """Nothing starts before the first program."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the interpreter that was kept."""
        if self._server:
            with self._server:  # closes its pipes, and waits
                self._server = None

    def run(self, program: str, limit: int = 120) -> tuple[int, str]:
        """Run `program` for at most `limit` seconds: its exit status and its output.

        The status is negative when a signal ended it (SIGALRM: time was up).
        """
        with tempfile.TemporaryDirectory(prefix="alone-") as name:
            path, empty = Path(name, "program.py"), Path(name, "empty")
            empty.mkdir()
            path.write_text(program, encoding="utf-8")
            if "environ" in program or not hasattr(os, "fork"):
                return self._interpreter(path, empty, limit)
            return self._fork(path, empty, limit)

    def _interpreter(self, path: Path, empty: Path, limit: int) -> tuple[int, str]:
        command = [sys.executable, "-u", "-P", str(path)]
        try:
            done = subprocess.run(
                command,
                cwd=empty,
                env=self._env,
                timeout=limit,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        except subprocess.TimeoutExpired as error:
            said = error.stdout or ""
            said = said if isinstance(said, str) else said.decode(errors="replace")
            return -signal.SIGALRM, said
        return done.returncode, done.stdout

    def _fork(self, path: Path, empty: Path, limit: int) -> tuple[int, str]:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-u", "-P", "-c", _SERVER],
                cwd=tempfile.gettempdir(),
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        log = path.with_suffix(".log")
        ask = {"path": str(path), "folder": str(empty), "log": str(log), "limit": limit}
        self._server.stdin.write(json.dumps(ask) + "\n")
        self._server.stdin.flush()
        answer = self._server.stdout.readline()
        if not answer:
            self.__exit__()
            raise RuntimeError("the Python that runs the programs has ended")
        return json.loads(answer), log.read_text(encoding="utf-8", errors="replace")
