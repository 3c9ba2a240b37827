"""Every page that is not in the cache runs, and every failure is told in one go.

Pages run in Jupyter kernels of their own, one more at a time than there are cores, for
some wait: longest first, each kernel on its share of the cores; a cell that measures
runs while no other does.  Sphinx reads a page only when its outputs are there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from book.execute import signals
from book.execute.cache import Cache, Entry
from book.execute.fork import KERNELS, ForkServer, ServerEnded
from book.execute.measuring_lock import Gate
from book.execute.page_run import STEADY, THREADS, PageRun
from book.execute.temporary_folder import Folder
from book.hardware.targets import Hardware, environment
from book.source.model import Page
from book.state import Problem


def cores() -> list[int]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class Runner:
    """Runs pages on the hardware behind their kernel names.

    `roots` are put on the pages' import path; `say` takes one line of progress;
    `jobs` is how many run at a time, if not what the target and the cores allow;
    what XLA compiles is kept in the folder `compiled`.
    """

    def __init__(
        self,
        kernels: dict[str, Hardware],
        caches: dict[str, Cache],
        roots: tuple[Path, ...],
        say: Callable[[str], None],
        jobs: int | None = None,
        compiled: Path | None = None,
    ):
        self.kernels, self.caches, self.roots, self.say = kernels, caches, roots, say
        allowed = min(h.target.jobs or len(cores()) + 1 for h in kernels.values())
        self.jobs, self._compiled = max(1, jobs or allowed), compiled
        self.problems: list[Problem] = []
        self.entries: dict[str, Entry] = {}
        self._servers: dict[str, ForkServer] = {}
        self._started = 0

    def run(self, pages: dict[str, tuple[Page, str]]) -> None:
        """Run `{name: (page, key)}`; results in `entries`, failures in `problems`."""
        with Folder() as folder:
            try:
                signals.run(self._run_all(pages, folder.path))
            finally:
                for server in self._servers.values():
                    server.close()

    async def _run_all(self, pages: dict[str, tuple[Page, str]], folder: Path) -> None:
        def seconds(item: tuple[Page, str]) -> float:
            return self.caches[item[0].kernel].seconds(item[0])

        order = sorted(pages.values(), key=seconds, reverse=True)
        everything, total, gate = cores(), len(order), Gate()
        shares: asyncio.Queue[list[int]] = asyncio.Queue()
        for job in range(self.jobs):
            shares.put_nowait(everything[job :: self.jobs] or everything)

        async def run(page: Page, key: str) -> None:
            # The queue hands shares out in the order of asking: longest first.
            mine = await shares.get()
            measures = any(cell.alone for cell in page.cells)
            used = everything if measures else mine
            try:
                await self._run(page, key, used, gate, folder, total)
            finally:
                shares.put_nowait(mine)

        await asyncio.gather(*(run(*item) for item in order))

    async def _run(
        self,
        page: Page,
        key: str,
        mine: list[int],
        gate: Gate,
        folder: Path,
        total: int,
    ) -> None:
        self._started += 1
        count, hardware = f"[{self._started}/{total}]", self.kernels[page.kernel]
        self.say(f"{count} {page.name}: running {len(page.cells)} cells")
        where = folder / str(self._started), self._compiled
        run = PageRun(page, hardware, self.roots, mine, gate, *where)
        try:
            try:
                entry = await run.entry(self._server(hardware))
            except ServerEnded:
                del self._servers[hardware.fingerprint]  # another one may do better
                run = PageRun(page, hardware, self.roots, mine, gate, *where)
                entry = await run.entry(self._server(hardware))
            self.caches[page.kernel].put(page, key, entry)
        except Exception as error:  # the one place for what goes wrong with a page
            self.problems.append(_problem(page, error))
            self.say(f"{count} {page.name}: failed after {run.spent:.1f} s")
        else:
            self.entries[page.name] = entry
            self.say(f"{count} {page.name}: passed in {entry.seconds:.1f} s")

    def _server(self, hardware: Hardware) -> ForkServer | None:
        if not KERNELS:
            return None
        if hardware.fingerprint not in self._servers:
            env = environment(hardware.target, *self.roots) | STEADY
            env |= dict.fromkeys(THREADS, str(max(1, len(cores()) // self.jobs)))
            self._servers[hardware.fingerprint] = ForkServer(env)
        return self._servers[hardware.fingerprint]


def _problem(page: Page, error: Exception) -> Problem:
    """Say in one sentence why `page` could not be run."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, ServerEnded):
        reason = "the Python that starts kernels ended twice"
    elif isinstance(error, OSError):
        where = error.filename or "a file"
        reason = f"{where} could not be written: {error.strerror or error}"
    else:
        reason = f"could not be run, {type(error).__name__}: {error}"
    return Problem(page.name, reason)
