"""What a build does with the processes of a page."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import psutil


def processor_seconds(pid: int) -> float:
    """Processor time of a process and of all that it started, ended or not."""
    total = 0.0
    with suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in [parent, *parent.children(recursive=True)]:
            with suppress(psutil.Error):
                total += sum(process.cpu_times()[:4])
    return total


def kill(process) -> None:
    """End a kernel and all of its group; the Python that forked it sees to the rest."""
    if process is None or process.poll() is not None:
        return
    with suppress(OSError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def pin(process, mine: list[int]) -> None:
    """Keep a kernel to its cores; the threads JAX starts later inherit them."""
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(process.pid, mine)
