"""What a page's processes have used, which cores they use, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress

import psutil

from book.execute.fork_server import ForkedProcess

Process = subprocess.Popen[bytes] | ForkedProcess


def processor_seconds(pid: int) -> float:
    """Processor time of a process and of all that it started, ended or not."""
    total = 0.0
    with suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in [parent, *parent.children(recursive=True)]:
            with suppress(psutil.Error):
                total += sum(process.cpu_times()[:4])
    return total


class ProcessorTime:
    """Processor seconds, from now on, of the kernel `pid` and of programs beside it.

    A page's budget is in these, not in seconds of a clock, which a busy machine makes
    many.
    """

    def __init__(self, pid: int):
        self._pid, self._before = pid, processor_seconds(pid)
        self._began = time.perf_counter()
        self._programs: dict[int, float] = {}

    def add_program(self, pid: int) -> None:
        """Count another process, too."""
        self._programs[pid] = 0.0

    def used(self, budget: float) -> float:
        """The seconds; 0 while they cannot be more than `budget`.

        Counting takes the longer, the more processes a machine has.
        """
        most = (time.perf_counter() - self._began) * (os.cpu_count() or 1)
        if most <= budget and not self._programs:
            return 0.0
        for pid, seconds in self._programs.items():
            self._programs[pid] = max(seconds, processor_seconds(pid))
        used = processor_seconds(self._pid) - self._before
        return used + sum(self._programs.values())


def kill_group(process: Process | None) -> None:
    """Kill a process and its group, and wait; a fork server kills what else it left."""
    if process is None or process.poll() is not None:
        return
    with suppress(OSError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def keep_to_cores(process: Process, cores: list[int]) -> None:
    """Let a process run on `cores` only; the threads JAX starts later inherit them."""
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(process.pid, cores)
