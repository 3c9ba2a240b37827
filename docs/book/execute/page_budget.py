"""The budget of a page: how long it may take, in seconds of processors.

A page's budget is not in seconds of a clock, which a busy machine makes many.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

import psutil

from book.execute.kernel import PATIENCE
from book.hardware.targets import Target
from book.source.model import Page


def why_too_long(
    page: Page, target: Target, used: ProcessorTime, seconds: float
) -> str | None:
    """Why `page` takes too long on `target`; None while it does not.

    seconds: how long its cells have taken, by the clock.
    """
    budget = page.budget * target.slower
    spent = used.used(budget)
    if spent > budget:
        why = f"the page has used {spent:.1f} s of processor time; "
        why += f"the page's budget is {budget:g} s"
        if target.slower != 1:
            why += f", {target.slower} times what it asks for on {target.name}"
        return why
    if seconds > max(PATIENCE, 10 * budget):
        why = f"the page has taken {seconds:.0f} s, with {spent:.1f} s of "
        return f"{why}processor time: it hangs"
    return None


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
