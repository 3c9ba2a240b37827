"""How a build ends at Ctrl-C, at another signal, or on a full disk: in one sentence.

The first signal lets the build clean up behind itself; a second one ends it at once,
and what it leaves the next build removes (`temporary_folder`).
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from types import FrameType

from sphinx.errors import SphinxParallelError

from book.files import is_of_machine, sentence

_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]
# As Python words an error of the machine, with one file or two.
_IN_WORDS = re.compile(r"\[Errno (\d+)\] ([^:()]+)(?:: '(.*?)'(?: -> '(.*?)')?)?")
_SENTENCE = "The build was stopped by {}. What has run is kept; the next one goes on."


class _Build:
    """The build of this process: the signal it got, and its pages while they run."""

    pid: int | None = None
    signal = 0
    pages: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None


def listen() -> None:
    """From now on a signal ends this build in good order, with status 128 + signal."""
    _Build.pid = os.getpid()
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> None:
    """End the build, now that a signal has come."""
    if _Build.signal or os.getpid() != _Build.pid:
        os._exit(128 + number)
    _Build.signal = number
    print(f"\n{_SENTENCE.format(signal.Signals(number).name)}", file=sys.stderr)
    if _Build.pages is None:
        raise SystemExit(128 + number)
    loop, task = _Build.pages
    loop.call_soon_threadsafe(task.cancel)


def run(pages: Coroutine[None, None, None]) -> None:
    """Run `pages` to the end; at a signal cancel them, and raise `SystemExit`."""

    async def main() -> None:
        task = asyncio.create_task(pages)
        _Build.pages = asyncio.get_running_loop(), task
        try:
            await task
        finally:
            _Build.pages = None

    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        raise SystemExit(128 + _Build.signal) from None


def explain_unwritable(exception: Exception | None, folder: Path) -> None:
    """End the build with one sentence where the machine failed it, as a full disk.

    `exception` is what ended the build, if anything did; the build writes to `folder`,
    which is named where the error names no file.  Raises `SystemExit`.
    """
    error = getattr(exception, "orig_exc", None) or exception
    if isinstance(error, SphinxParallelError):
        error = _of_another_process(error)
    if is_of_machine(error):
        error.filename = error.filename or str(folder)
        raise SystemExit(f"\n{sentence(error)}")


def _of_another_process(error: SphinxParallelError) -> OSError | None:
    """The error of the machine in a process of `-j`: Sphinx keeps its words only."""
    if found := _IN_WORDS.search(error.message):
        number, reason, name, second = found.groups()
        return OSError(int(number), reason, name, None, second)
    return None
