"""The temporary folder of a build; the next build removes it if this one cannot.

A build that is killed cannot clean up.  Each folder holds a lock for as long as its
process lives; a folder whose lock is free belongs to nobody, and is removed.  So is
what pages of such a build have left running: the variable `MARK` leads into the folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import filelock
import psutil

PREFIX = "book-"
MARK = "IPYTHONDIR"  # a variable of all kernels, and of what they start
OTHERS = ("/tmp", "/dev/shm")  # where the usual place has too long a name
# The path of a socket has 107 bytes at most.  Those of a page may be called as those of
# multiprocessing: `pymp-12345678/listener-12345678` in the page's temporary folder.
_LONGEST = 65


class NoFolder(OSError):
    """There is no folder for temporary files."""


class TemporaryFolder:
    """A new temporary folder at `path`, a context manager; raises `NoFolder`."""

    def __init__(self) -> None:
        while True:
            self.path = _new()
            self._lock = filelock.FileLock(self.path / "lock")
            # Another build may look between the two, and remove what nobody holds.
            with suppress(FileNotFoundError):
                self._lock.acquire()
                return

    def __enter__(self) -> TemporaryFolder:
        """Remove what builds that were killed have left."""
        for path in self.path.parent.glob(f"{PREFIX}*"):
            if path != self.path:
                _remove_if_dead(path)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder, first what is in it, last its lock."""
        for path in self.path.iterdir():
            if path.name != "lock":
                shutil.rmtree(path, ignore_errors=True)
        self._lock.release()
        shutil.rmtree(self.path, ignore_errors=True)


def _new() -> Path:
    """Make a folder where temporary files go, or where its name is short enough."""
    places = [*OTHERS]
    with suppress(FileNotFoundError):  # nothing can be written where Python looks
        places.insert(0, tempfile.gettempdir())
    for place in places:
        if len(os.fsencode(place)) + len(PREFIX) + 9 <= _LONGEST:
            with suppress(OSError):
                return Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    raise NoFolder(
        f"No folder for temporary files: {', '.join(dict.fromkeys(places))} have names "
        "too long for sockets, or cannot be written to. Set TMPDIR to a short path."
    )


def _remove_if_dead(path: Path) -> None:
    """Remove the folder at `path` if the process that made it has ended."""
    if not (path / "lock").is_file():
        return  # not ours, or not locked yet
    lock = filelock.FileLock(path / "lock", timeout=0)
    with suppress(OSError, filelock.Timeout), lock:
        _kill_what_belongs_to(path)
        shutil.rmtree(path, ignore_errors=True)


def _kill_what_belongs_to(path: Path) -> None:
    """Kill the processes whose environment leads into the folder at `path`."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(MARK, "").startswith(f"{path}/"):
                process.kill()
