"""The part in a page's kernel that looks after what it writes and leaves running.

`kernel` sends the text of this module; it imports the standard library only.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO


def begin(shell: object, own: str, patience: float) -> None:
    """Watch over the cells that the IPython `shell` runs from now on."""
    tempfile.tempdir = None  # what the environment says now
    refuse_to_write_outside(own)
    threads = Threads(patience)
    shell.events.register("pre_run_cell", threads.before_cell)  # type: ignore[attr-defined]
    shell.events.register("post_run_cell", threads.after_cell)  # type: ignore[attr-defined]


# Events of Python that make, change or remove a file: where each has its path, and
# where the folder that it is relative to, if that is not the current one.
_CHANGES: dict[str, list[tuple[int, int | None]]] = {
    "os.mkdir": [(0, 2)],
    "os.rename": [(0, 2), (1, 3)],
    "os.link": [(1, 3)],
    "os.symlink": [(1, 2)],
    "os.remove": [(0, 1)],
    "os.rmdir": [(0, 1)],
    "os.truncate": [(0, None)],
}
# The folder of what XLA has compiled; see `xla_cache`.
_COMPILED = "JAX_COMPILATION_CACHE_DIR", "BOOK_ONLY_KEEPS_COMPILED"
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def refuse_to_write_outside(own: str) -> None:
    """Let Python change files in the folder `own` only, and in caches of libraries.

    What is written elsewhere would stay there, and no reader would know.
    """
    folders = [own, "/dev", "/proc", *filter(None, map(os.environ.get, _COMPILED))]
    allowed = tuple(os.path.join(os.path.realpath(one), "") for one in folders)
    hidden = os.path.join(os.path.realpath(os.path.expanduser("~")), ".")

    def check(path: object) -> None:
        if not isinstance(path, str | bytes):
            return  # a descriptor of what is open already
        real = os.path.realpath(os.fsdecode(path))
        inside = os.path.join(real, "").startswith(allowed)  # or the folder itself
        if inside or "__pycache__" in real:
            return
        if real.startswith(hidden) and os.sep in real[len(hidden) :]:
            return  # of a library, such as ~/.cache/matplotlib
        with suppress(OSError):
            if stat.S_ISFIFO(os.stat(real).st_mode):
                return  # nothing stays in a pipe
        raise PermissionError(
            f"a page may write to its own folder and to temporary files, not to {real}"
        )

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and arguments[2] & _WRITES:
            check(arguments[0])
        for path, folder in _CHANGES.get(event, ()):
            if folder is None or arguments[folder] == -1:
                check(arguments[path])

    sys.addaudithook(hook)


class Threads:
    """Waits at the end of a cell for its threads, and notices those that print later.

    The workers of a pool wait for more work, and a thread that was not started by
    Python has no beginning: they are left alone.
    """

    def __init__(self, patience: float):
        self.patience = patience
        self._known = set(threading.enumerate())
        self._earlier: set[threading.Thread] = set()  # threads of cells before this one
        self._late: list[str] = []
        self._writes: list[tuple[TextIO, Callable[[str], int]]] = []

    def _noticing(self, write: Callable[[str], int]) -> Callable[[str], int]:
        def noticing_write(text: str) -> int:
            if threading.current_thread() in self._earlier and text.strip():
                self._late.append(f"{threading.current_thread().name}: {text.strip()}")
            return write(text)

        return noticing_write

    def _running(self) -> list[threading.Thread]:
        """The threads that cells have started, and that are at work."""
        pools = sys.modules.get("concurrent.futures.thread")
        waiting = getattr(pools, "_threads_queues", {})
        of_python = (t for t in threading.enumerate() if t not in self._known)
        return [
            thread
            for thread in of_python
            if thread not in waiting and not isinstance(thread, threading._DummyThread)
        ]

    def before_cell(self, _info: object) -> None:
        """Take note of the threads that are there before a cell runs."""
        self._earlier = set(self._running())
        # IPython has methods of its own in their place while a cell runs.
        self._writes = [(stream, stream.write) for stream in (sys.stdout, sys.stderr)]
        for stream, write in self._writes:
            stream.write = self._noticing(write)  # type: ignore[method-assign]

    def after_cell(self, _result: object) -> None:
        """Wait for threads, and for what JAX has still to print."""
        if "jax" in sys.modules:
            with suppress(Exception):  # is raised where a program waits for it
                sys.modules["jax"].effects_barrier()
        until = time.monotonic() + self.patience
        while left := [thread for thread in self._running() if not thread.daemon]:
            left[0].join(max(0.0, min(1.0, until - time.monotonic())))
            if time.monotonic() > until:
                name = left[0].name
                tell(
                    sys.stderr, f"the thread {name} has not ended; join it in the cell"
                )
                self._known.add(left[0])
        for stream, write in self._writes:
            stream.write = write  # type: ignore[method-assign]
        for late in self._late[:1]:
            tell(sys.stderr, f"a thread of an earlier cell put this out, {late}")
        self._late.clear()


def tell(stream: TextIO, sentence: str) -> None:
    """Write a sentence of the build to what a cell must not write to."""
    stream.write(f"{sentence}\n")
