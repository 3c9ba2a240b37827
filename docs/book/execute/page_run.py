"""The cells of one page run in a kernel, and whatever goes wrong is a `Problem`.

A page has to keep to its budget: processor seconds of its kernel and of all that it
starts.  How busy the machine is makes a page slow, never wrong.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from nbclient.exceptions import DeadKernelError

from book.execute import fresh_process, kernel, xla_cache
from book.execute.cache import Entry
from book.execute.fork import ForkServer, provision
from book.execute.kernel import PATIENCE
from book.execute.measuring_lock import Gate
from book.execute.output_rules import OUTPUT, Judge
from book.execute.processes import Meter, kill, pin
from book.execute.type_comments.client import Watch
from book.files import local_strings
from book.hardware.targets import Hardware, environment
from book.source.model import Cell, Page
from book.state import Problem

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PJRT_NPROC")
STEADY = {"PYTHONHASHSEED": "0"}  # sets are shown in one order by every build
STILL = "was still running, and "


class PageRun:
    """One run of `page` on `hardware`, on the cores `mine`, with files in `folder`.

    `roots` are put on its import path; `gate` lets a cell that measures have the
    machine to itself; what XLA compiles is kept in the folder `compiled`.
    """

    def __init__(
        self,
        page: Page,
        hardware: Hardware,
        roots: tuple[Path, ...],
        mine: list[int],
        gate: Gate,
        folder: Path,
        compiled: Path | None = None,
    ):
        self.page, self.hardware, self.roots = page, hardware, roots
        self.mine, self.gate, self.folder = mine, gate, folder
        self.compiled = compiled
        self.book, self.manager, self.client = kernel.parts(page, folder)
        private = [*local_strings(*roots), str(folder)]
        self._judge = Judge(page, hardware.target, private)
        self.process = None
        self._now = page.cells[0]  # the cell that runs
        self.spent = 0.0  # seconds in which its cells ran

    async def entry(self, server: ForkServer | None) -> Entry:
        """Run the page in a kernel from `server`; raises `Problem` where it fails."""
        work = self.folder / "work"
        work.mkdir(parents=True)
        env = self.env = environment(self.hardware.target, *self.roots)
        env |= dict.fromkeys(THREADS, str(len(self.mine)))
        env |= STEADY | {"IPYTHONDIR": str(self.folder / "ipython")}
        self._server = server
        if server:
            warm = not any("environ" in cell.source for cell in self.page.cells)
            provision(self.manager, server, warm)
            if warm and self.compiled:
                env |= xla_cache.settings(self.page, self.compiled)
        try:
            async with self.gate.shared():
                await self._start(env, work)
            await self._run()
        except DeadKernelError:
            raise self._died() from None
        finally:
            kill(self.process)
            await self._clean()
        outputs = [node.outputs for node in self.book.cells[: len(self.page.cells)]]
        executed = datetime.now(UTC).isoformat(timespec="seconds")
        return Entry(outputs, executed, round(self.spent, 2))

    async def _start(self, env: dict[str, str], work: Path) -> None:
        """Start the kernel, and see that an assertion in it can fail."""
        try:
            await self.client.async_start_new_kernel(env=env, cwd=str(work))
            self.process = self.manager.provisioner.process
            pin(self.process, self.mine)
            await self.client.async_start_new_kernel_client()
        except RuntimeError as error:  # as Jupyter says that it gave up
            reason = f"its kernel did not start: {error}"
            raise self._judge.problem(self.page.cells[0], reason) from None
        proof = await self._hidden(1)
        if not any(output.get("ename") == "AssertionError" for output in proof.outputs):
            reason = "assertions are off in its kernel, so nothing is verified"
            raise self._judge.problem(self.page.cells[0], reason)
        self._meter = Meter(self.process.pid)

    async def _clean(self) -> None:
        """Remove what the kernel used; it has been killed."""
        with suppress(RuntimeError):
            await self.client._async_cleanup_kernel()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _run(self) -> None:
        watch = Watch(self.page, self.client.kc)
        await watch.begin()
        for cell, node in zip(self.page.cells, self.book.cells, strict=False):
            async with self.gate.alone() if cell.alone else self.gate.shared():
                await self._execute(cell, node)
            self._judge.judge(cell, node)
            await watch.after(cell)
        # What reached stderr from below Python while the last cell ended.
        last, nothing = self.page.cells[-1], await self._hidden(0)
        if warned := self._judge.sift(nothing.outputs)[2]:
            raise self._judge.problem(last, f"wrote to stderr: {warned}")

    async def _hidden(self, which: int):
        """Run one of `kernel.HIDDEN`, and return it with what it put out."""
        index = len(self.page.cells) + which
        node = self.book.cells[index]
        await self.client.async_execute_cell(node, index, store_history=False)
        return node

    async def _execute(self, cell: Cell, node) -> None:
        """Run one cell, and look after it while it runs."""
        self._now = cell
        running = self._fresh if cell.fresh else self.client.async_execute_cell
        task = asyncio.ensure_future(running(node, cell.number - 1))
        begin, before = time.perf_counter(), self.spent
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=0.25)
                self.spent = before + time.perf_counter() - begin
                self._limit(cell, node, "" if task.done() else STILL)
        finally:
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, DeadKernelError):
                    await task
        task.result()

    def _limit(self, cell: Cell, node, still: str) -> None:
        """Raise `Problem` when the page takes too long, or says too much."""
        budget = self.page.budget
        used = self._meter.used(budget)
        if used > budget:
            raise self._judge.problem(
                cell,
                f"{still}the page has used {used:.1f} s of processor time; "
                f"the page's budget is {budget:g} s",
            )
        if self.spent > max(PATIENCE, 10 * budget):
            raise self._judge.problem(
                cell,
                f"{still}the page has taken {self.spent:.0f} s, with {used:.1f} s of "
                "processor time: it hangs",
            )
        if self._judge.too_much(node.outputs):
            raise self._judge.problem(
                cell, f"{still}it puts out more than {OUTPUT:,} letters"
            )

    async def _fresh(self, node, index: int) -> None:
        """Run a fresh cell, whose processor seconds count as the kernel's do."""
        work = self.folder / "work"
        program = fresh_process.start(node.source, self.env, work, self._server)
        self._meter.add(program.pid)
        pin(program, self.mine)
        try:
            node.outputs = await fresh_process.outputs_of(program, work)
        finally:
            kill(program)
        node.execution_count = index + 1

    def _died(self) -> Problem:
        cell = self._now
        if self.process:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(5)  # until it is known how it ended
        code = self.process.returncode if self.process else None
        if code is None or code >= 0:
            return self._judge.problem(
                cell, f"its kernel stopped with exit status {code}"
            )
        if getattr(self.process, "lost", False):
            reason = "its kernel went down with the Python that forked it"
            return self._judge.problem(cell, reason)
        how = f"its kernel was killed by {signal.Signals(-code).name}"
        if code == -signal.SIGKILL:
            how += ", as happens when memory runs out"
        return self._judge.problem(cell, how)
