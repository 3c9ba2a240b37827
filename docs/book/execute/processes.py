"""What a build does with the processes of a page."""

from __future__ import annotations

import os
import signal
import time
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


class Meter:
    """Processor seconds of the kernel `pid`, and of programs beside it, from now on."""

    def __init__(self, pid: int):
        self._pid, self._idle = pid, processor_seconds(pid)
        self._began = time.perf_counter()
        self._programs: dict[int, float] = {}

    def add(self, pid: int) -> None:
        """Count a program, too."""
        self._programs[pid] = 0.0

    def used(self, budget: float) -> float:
        """The seconds; 0 while they cannot be more than `budget`.

        To ask takes the longer, the more processes a machine has.
        """
        most = (time.perf_counter() - self._began) * (os.cpu_count() or 1)
        if most <= budget and not self._programs:
            return 0.0
        for pid, seconds in self._programs.items():
            self._programs[pid] = max(seconds, processor_seconds(pid))
        used = processor_seconds(self._pid) - self._idle
        return used + sum(self._programs.values())


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
