"""Every page that is not in the cache runs, and every failure is told in one go.

Pages run in Jupyter kernels of their own, as many at a time as there are cores, longest
first, each kernel on its share of the cores; a cell that measures runs while no other
does.  Sphinx reads a page only when its outputs are there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from book.pages import Page, Problem
from book.run.cache import Cache, Entry
from book.run.fork import Warm
from book.run.gate import Gate
from book.run.page import THREADS, PageRun
from book.targets import Hardware, environment


def cores() -> list[int]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class Runner:
    """Runs pages on the hardware behind their kernel names.

    `roots` are put on the pages' import path; `say` takes one line of progress;
    `jobs` is how many run at a time, if not what the target and the cores allow.
    """

    def __init__(
        self,
        kernels: dict[str, Hardware],
        caches: dict[str, Cache],
        roots: tuple[Path, ...],
        say: Callable[[str], None],
        jobs: int | None = None,
    ):
        self.kernels, self.caches, self.roots, self.say = kernels, caches, roots, say
        allowed = min(h.target.jobs or len(cores()) for h in kernels.values())
        self.jobs = max(1, jobs or allowed)
        self.problems: list[Problem] = []
        self.entries: dict[str, Entry] = {}
        self._warm: dict[str, Warm] = {}
        self._started = 0

    def run(self, pages: dict[str, tuple[Page, str]]) -> None:
        """Run `{name: (page, key)}`; results in `entries`, failures in `problems`."""
        try:
            asyncio.run(self._run_all(pages))
        finally:
            for warm in self._warm.values():
                warm.close()

    async def _run_all(self, pages: dict[str, tuple[Page, str]]) -> None:
        def seconds(item: tuple[Page, str]) -> float:
            return self.caches[item[0].kernel].seconds(item[0])

        order = sorted(pages.values(), key=seconds, reverse=True)
        everything, gate = cores(), Gate()
        shares: asyncio.Queue[list[int]] = asyncio.Queue()
        for job in range(self.jobs):
            shares.put_nowait(everything[job :: self.jobs] or everything)

        async def run(page: Page, key: str) -> None:
            # The queue hands shares out in the order of asking: longest first.
            mine = await shares.get()
            measures = any(cell.alone for cell in page.cells)
            try:
                await self._run(
                    page, key, everything if measures else mine, gate, len(order)
                )
            finally:
                shares.put_nowait(mine)

        await asyncio.gather(*(run(*item) for item in order))

    async def _run(
        self, page: Page, key: str, mine: list[int], gate: Gate, total: int
    ) -> None:
        self._started += 1
        count, hardware = f"[{self._started}/{total}]", self.kernels[page.kernel]
        self.say(f"{count} {page.name}: running {len(page.cells)} cells")
        warm = None
        if Warm.possible([cell.source for cell in page.cells]):
            warm = self._warm_python(hardware)
        run = PageRun(page, hardware, self.roots, mine, gate, warm)
        try:
            entry = await run.entry()
        except Problem as problem:
            self.problems.append(problem)
            self.say(f"{count} {page.name}: failed after {run.spent:.1f} s")
        else:
            self.caches[page.kernel].put(page, key, entry)
            self.entries[page.name] = entry
            self.say(f"{count} {page.name}: passed in {entry.seconds:.1f} s")

    def _warm_python(self, hardware: Hardware) -> Warm:
        if hardware.fingerprint not in self._warm:
            env = environment(hardware.target, *self.roots)
            env |= dict.fromkeys(THREADS, str(max(1, len(cores()) // self.jobs)))
            self._warm[hardware.fingerprint] = Warm(env)
        return self._warm[hardware.fingerprint]
