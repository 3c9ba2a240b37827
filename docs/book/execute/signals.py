"""Ctrl-C, and whoever else ends a build, end all of it.

The first signal lets the build clean up behind itself; a second one ends it at once,
and what it leaves the next build removes (`folder`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Coroutine

from book.files import UNWRITABLE

_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]
_SENTENCE = "The build was stopped by {}. What has run is kept; the next one goes on."


class _Build:
    """The build of this process, and what ends its pages while they run."""

    pid: int | None = None
    number = 0
    pages: tuple[asyncio.AbstractEventLoop, asyncio.Task] | None = None


def listen() -> None:
    """From now on a signal ends this build in good order, with status 128 + signal."""
    _Build.pid = os.getpid()
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _stop)


def _stop(number: int, _frame: object) -> None:
    if _Build.number or os.getpid() != _Build.pid:
        os._exit(128 + number)
    _Build.number = number
    print(f"\n{_SENTENCE.format(signal.Signals(number).name)}", file=sys.stderr)
    if _Build.pages is None:
        raise SystemExit(128 + number)
    loop, task = _Build.pages
    loop.call_soon_threadsafe(task.cancel)


def run(pages: Coroutine[None, None, None]) -> None:
    """Run `pages` to the end, or cancel them at a signal, and leave."""

    async def main() -> None:
        _Build.pages = asyncio.get_running_loop(), asyncio.current_task()
        try:
            await pages
        finally:
            _Build.pages = None

    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        raise SystemExit(128 + _Build.number) from None


def tell(exception: Exception | None) -> None:
    """End the build with one sentence where the machine failed it, as a full disk."""
    error = getattr(exception, "orig_exc", None) or exception
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        where = error.filename or "a file of the build"
        raise SystemExit(f"\n{where} could not be written: {error.strerror}.")
