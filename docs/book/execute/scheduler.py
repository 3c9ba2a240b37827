"""The pages that are not in the cache run, some at a time, and every failure is told.

Each page has a Jupyter kernel of its own on its share of the cores.  They start in the
order of how long they took last, the longest first, and one more than there are cores
runs at a time, since some wait.  Hardware that fewer kernels may use has its own limit
(`jobs` in `docs/targets.toml`): pages on simulated devices do not wait for those on a
TPU.  A cell that measures runs while no other does.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from book import files
from book.execute import signals
from book.execute.cache import Cache, Entry
from book.execute.fork_server import AVAILABLE, ForkServer, ServerEnded
from book.execute.measuring_lock import ReaderWriterLock
from book.execute.page_run import SAME_HASHES, THREADS, PageRun
from book.execute.temporary_folder import TemporaryFolder
from book.hardware.targets import Hardware, environment
from book.source.model import Page
from book.state import Problem


def cores() -> list[int]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class Scheduler:
    """Runs pages on the hardware behind their kernel names.

    `roots` are put on the pages' import path; `report` takes one line of progress;
    what XLA compiles is kept in the folder `compiled`.  So many run at a time as `jobs`
    says; where it says nothing, one more than there are cores, and on each hardware as
    many as its target allows (`jobs` in `docs/targets.toml`).
    """

    def __init__(
        self,
        kernels: dict[str, Hardware],
        caches: dict[str, Cache],
        roots: tuple[Path, ...],
        report: Callable[[str], None],
        jobs: int | None = None,
        compiled: Path | None = None,
    ):
        self.kernels, self.caches, self.roots = kernels, caches, roots
        self.report, self.compiled = report, compiled
        self.jobs = jobs or len(cores()) + 1
        self._limits = {
            hardware.fingerprint: asyncio.Semaphore(jobs or hardware.target.jobs)
            for hardware in kernels.values()
            if hardware.target.jobs
        }
        self.problems: list[Problem] = []
        self.entries: dict[str, Entry] = {}
        self._servers: dict[str, ForkServer] = {}  # by fingerprint of the hardware
        self._started = 0

    def run(self, pages: dict[str, tuple[Page, str]]) -> None:
        """Run `{name: (page, key)}`; results in `entries`, failures in `problems`."""
        with TemporaryFolder() as folder:
            try:
                signals.run(self._run_all(pages, folder.path))
            finally:
                for server in self._servers.values():
                    server.close()

    async def _run_all(self, pages: dict[str, tuple[Page, str]], folder: Path) -> None:
        def seconds(item: tuple[Page, str]) -> float:
            page, _ = item
            return self.caches[_kernel_name(page)].seconds(page)

        longest_first = sorted(pages.values(), key=seconds, reverse=True)
        everything, lock = cores(), ReaderWriterLock()
        shares: asyncio.Queue[list[int]] = asyncio.Queue()
        for job in range(self.jobs):
            # The one more than there are cores shares all of them.
            shares.put_nowait(everything[job :: self.jobs] or everything)

        async def run_when_allowed(page: Page, key: str) -> None:
            hardware = self.kernels[_kernel_name(page)]
            async with self._limits.get(hardware.fingerprint, nullcontext()):
                await run(page, key)

        async def run(page: Page, key: str) -> None:
            # The queue hands shares out in the order of asking.
            share = await shares.get()
            measures = any(cell.alone for cell in page.cells)
            try:
                self._started += 1
                count = f"[{self._started}/{len(pages)}]"
                place = folder / str(self._started)
                used = everything if measures else share
                await self._run_page(page, key, used, lock, place, count)
            finally:
                shares.put_nowait(share)

        await asyncio.gather(
            *(run_when_allowed(page, key) for page, key in longest_first)
        )

    async def _run_page(
        self,
        page: Page,
        key: str,
        cores: list[int],
        lock: ReaderWriterLock,
        folder: Path,
        count: str,
    ) -> None:
        """Run a page, again if the fork server ends before the kernel starts."""
        hardware = self.kernels[_kernel_name(page)]

        def new_run() -> PageRun:
            where = folder, self.compiled
            return PageRun(page, hardware, self.roots, cores, lock, *where)

        self.report(f"{count} {page.name}: running {len(page.cells)} cells")
        run = new_run()
        try:
            server = self._server(hardware)
            try:
                entry = await run.entry(server)
            except ServerEnded:
                self._forget(server)
                run = new_run()
                entry = await run.entry(self._server(hardware))
            self.caches[_kernel_name(page)].put(page, key, entry)
        except Exception as error:  # the one place for what goes wrong with a page
            self.problems.append(_problem(page, error))
            self.report(f"{count} {page.name}: failed after {run.seconds:.1f} s")
        else:
            self.entries[page.name] = entry
            self.report(f"{count} {page.name}: passed in {entry.seconds:.1f} s")

    def _server(self, hardware: Hardware) -> ForkServer | None:
        """The fork server for `hardware`; None where processes are not forked."""
        if not AVAILABLE:
            return None
        if hardware.fingerprint not in self._servers:
            env = environment(hardware.target, *self.roots) | SAME_HASHES
            env |= dict.fromkeys(THREADS, str(max(1, len(cores()) // self.jobs)))
            self._servers[hardware.fingerprint] = ForkServer(env)
        return self._servers[hardware.fingerprint]

    def _forget(self, server: ForkServer | None) -> None:
        """Let another server take the place of one that has ended."""
        for fingerprint, known in list(self._servers.items()):
            if known is server:
                self._servers.pop(fingerprint).close()


def _kernel_name(page: Page) -> str:
    """The name of the kernel of a page that runs."""
    if page.kernel is None:
        raise ValueError(f"{page.name} has no kernel")
    return page.kernel


def _problem(page: Page, error: Exception) -> Problem:
    """Say in one sentence why `page` could not be run."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, ServerEnded):
        reason = "the Python that starts kernels ended twice"
    elif isinstance(error, OSError):
        reason = files.sentence(error)
    else:
        reason = f"could not be run, {type(error).__name__}: {error}"
    return Problem(page.name, reason)
