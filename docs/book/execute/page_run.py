"""The cells of one page run in a kernel, and whatever goes wrong is a `Problem`.

A page has to keep to its budget: processor seconds of its kernel and of all that it
starts.  How busy the machine is makes a page slow, never wrong.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path

from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

from book import error_text
from book.execute import fresh_process, kernel, xla_cache
from book.execute.cache import Entry, digests
from book.execute.fork_server import ForkedProcess, ForkServer, start_through
from book.execute.low_level_output import LowLevelOutput
from book.execute.measuring_lock import ReaderWriterLock
from book.execute.output_rules import MAX_OUTPUT, OutputRules, is_too_much
from book.execute.page_budget import ProcessorTime, why_too_long
from book.execute.processes import Process, keep_to_cores, kill_group
from book.execute.temporary_folder import MARK
from book.execute.type_comments.client import TypeComments
from book.files import local_strings
from book.hardware.targets import Hardware, environment
from book.source.model import Cell, Page
from book.state import Problem

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PJRT_NPROC")
SAME_HASHES = {"PYTHONHASHSEED": "0"}  # sets are shown in one order by every build


class PageRun:
    """One run of `page` on `hardware`, on `cores`, with files in `folder`.

    `roots` are put on its import path; by `lock` a cell that measures has the machine
    to itself; what XLA compiles is kept in the folder `compiled`.
    """

    def __init__(
        self,
        page: Page,
        hardware: Hardware,
        roots: tuple[Path, ...],
        cores: list[int],
        lock: ReaderWriterLock,
        folder: Path,
        compiled: Path | None = None,
    ):
        self.page, self.hardware, self.roots = page, hardware, roots
        self.cores, self.lock, self.compiled = cores, lock, compiled
        self.folder, self.work = folder, folder / "work"
        self.notebook, self.manager, self.client = kernel.prepare(
            page, folder, roots[0]
        )
        private = [*local_strings(*roots), str(folder)]
        self.rules = OutputRules(page, hardware.target, private)
        self.env = environment(hardware.target, *roots) | SAME_HASHES
        self.env |= dict.fromkeys(THREADS, str(len(cores)))
        self.env["TMPDIR"] = str(folder / "tmp")  # which goes with the page
        # JAX draws shardings with Matplotlib where that is installed.
        self.env["MPLCONFIGDIR"] = str(folder / "matplotlib")
        self.env[MARK] = str(folder / "ipython")
        try:
            Path.home()
        except RuntimeError:  # a user id without an account: IPython would not start
            self.env["HOME"] = str(folder)
        self.written = LowLevelOutput(folder)
        self.server: ForkServer | None = None
        self.process: Process | None = None
        self.seconds = 0.0  # in which its cells ran
        self._running = page.cells[0]  # the cell that runs

    async def entry(self, server: ForkServer | None) -> Entry:
        """Run the page in a kernel from `server`, or in one that Jupyter starts.

        Raises `Problem` where it fails, `ServerEnded`, and OSError.
        """
        self.server = server
        for place in (self.work, self.folder / "tmp"):
            place.mkdir(parents=True)
        watch = kernel.watch_other_pythons(self.folder, self.roots[0])
        self.env["PYTHONPATH"] = os.pathsep.join([watch, self.env["PYTHONPATH"]])
        if server:
            # JAX has been imported in a warm kernel, and reads nothing more.
            warm = not any("environ" in cell.source for cell in self.page.cells)
            start_through(server, self.manager, warm)
            if warm and self.compiled:
                self.env |= xla_cache.environment_of_page(self.page, self.compiled)
        try:
            async with self.lock.shared():
                await self._start_kernel()
            await self._run_cells()
            opened = kernel.read_by_page(self.folder)
        except DeadKernelError:
            raise self._kernel_ended() from None
        finally:
            kill_group(self.process)
            await self._clean_up()
        nodes = self.notebook.cells[: len(self.page.cells)]
        return Entry(
            outputs=[node.outputs for node in nodes],
            executed=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(self.seconds, 2),
            read=digests(opened, self.roots[0]),
        )

    async def _start_kernel(self) -> None:
        """Start the kernel, and see that an assertion in it can fail."""
        first = self.page.cells[0]
        out, err = self.written.paths.values()
        try:
            with out.open("wb") as stdout, err.open("wb") as stderr:
                await self.client.async_start_new_kernel(
                    env=self.env, cwd=str(self.work), stdout=stdout, stderr=stderr
                )
            self.process = self.manager.provisioner.process
            keep_to_cores(self.process, self.cores)
            await self.client.async_start_new_kernel_client()
        except RuntimeError as error:  # as Jupyter says that it gave up
            reason = f"its kernel did not start: {error}{self._last_words()}"
            raise self.rules.problem(first, reason) from None
        index = len(self.page.cells)
        proof = self.notebook.cells[index]
        await self.client.async_execute_cell(proof, index, store_history=False)
        raised = [one["ename"] for one in proof.outputs if "ename" in one]
        if raised != ["AssertionError"]:
            reason = "assertions are off in its kernel, so nothing is verified"
            if raised:
                reason = f"its kernel could not be prepared: {', '.join(raised)}"
            raise self.rules.problem(first, reason)
        self.written.take()  # is not of a cell
        self.used = ProcessorTime(self.process.pid)

    def _last_words(self) -> str:
        """The last line that the kernel wrote to stderr, which may say why it ended."""
        said = self.written.paths["stderr"].read_text("utf-8", "replace")
        last = error_text.last_words(said)
        return f": {last}" if last else ""

    async def _clean_up(self) -> None:
        """Remove what the kernel used; it has been killed."""
        if self.client.km:  # nbclient cleans up itself where a kernel does not answer
            with suppress(RuntimeError):
                await self.client._async_cleanup_kernel()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _run_cells(self) -> None:
        types = TypeComments(self.page, self.client.kc)
        await types.begin()
        for cell, node in zip(self.page.cells, self.notebook.cells, strict=False):
            async with self.lock.alone() if cell.alone else self.lock.shared():
                await self._execute(cell, node)
            node.outputs += self.written.take()
            # A later cell may yet change a display.
            self.rules.apply(cell, deepcopy(node))
            self._check_late(cell)
            await types.check(cell)
        await self.client.take_late_outputs()
        self._check_late(self.page.cells[-1])
        for cell, node in zip(self.page.cells, self.notebook.cells, strict=False):
            self.rules.apply(cell, node)
        kill_group(self.process)
        self.rules.check_stderr(self.page.cells[-1], self.written.take())

    def _check_late(self, cell: Cell) -> None:
        """Raise `Problem` for what a cell, until `cell` at the latest, put out late."""
        if self.client.late:
            reason = (
                f"what it, or a cell above, started put out {self.client.late[0]!r} "
            )
            reason += "after the cell had ended; wait for it in the cell"
            raise self.rules.problem(cell, reason)

    async def _execute(self, cell: Cell, node: NotebookNode) -> None:
        """Run one cell, and look after it while it runs."""
        self._running = cell
        run = self._run_fresh if cell.fresh else self.client.async_execute_cell
        task = asyncio.ensure_future(run(node, cell.number - 1))
        begin, before = time.perf_counter(), self.seconds
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=0.25)
                self.seconds = before + time.perf_counter() - begin
                words = "" if task.done() else "was still running, and "
                self._check_limits(cell, node, words)
        finally:
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, DeadKernelError):
                    await task
        task.result()

    def _check_limits(self, cell: Cell, node: NotebookNode, begin: str) -> None:
        """Raise `Problem` when the page takes too long, or puts out too much.

        Its reason starts with the words `begin`.
        """
        target = self.hardware.target
        if why := why_too_long(self.page, target, self.used, self.seconds):
            raise self.rules.problem(cell, f"{begin}{why}")
        if is_too_much(node.outputs) or self.written.unseen() > MAX_OUTPUT:
            raise self.rules.problem(
                cell, f"{begin}it puts out more than {MAX_OUTPUT:,} letters"
            )

    async def _run_fresh(self, node: NotebookNode, index: int) -> None:
        """Run a fresh cell, whose processor seconds count as the kernel's do."""
        program = fresh_process.start(node.source, self.env, self.work, self.server)
        self.used.add_program(program.pid)
        keep_to_cores(program, self.cores)
        try:
            node.outputs = await fresh_process.outputs_of(program, self.work)
        finally:
            kill_group(program)
        node.execution_count = index + 1

    def _kernel_ended(self) -> Problem:
        """The problem that the kernel has ended while a cell ran."""
        code = None
        if self.process:
            with suppress(subprocess.TimeoutExpired):
                code = self.process.wait(5)  # until it is known how it ended
        if isinstance(self.process, ForkedProcess) and self.process.lost:
            how = "its kernel went down with the Python that forked it"
        elif code is None or code >= 0:
            how = f"its kernel stopped with exit status {code}"
        else:
            how = f"its kernel was killed by {signal.Signals(-code).name}"
            if code == -signal.SIGKILL:
                how += ", as happens when memory runs out"
        return self.rules.problem(self._running, how)
