"""The cells of one page run in a kernel, and whatever goes wrong is a `Problem`.

A cell may raise only what it declares, write nothing to stderr, show no path of this
machine, and the page has to keep to its budget of seconds.
"""

from __future__ import annotations

import getpass
import math
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from book.pages import Cell, Page, Problem
from book.run import fresh
from book.run.cache import Entry
from book.run.fork import Warm, provision
from book.run.gate import Gate
from book.run.watch import Watch
from book.targets import Hardware, environment

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PJRT_NPROC")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class PageRun:
    """One run of `page` on `hardware`, on the cores `mine`.

    `roots` are put on its import path; `gate` lets a cell that measures have the
    machine to itself; the kernel is forked from `warm`, if there is one.
    """

    def __init__(
        self,
        page: Page,
        hardware: Hardware,
        roots: tuple[Path, ...],
        mine: list[int],
        gate: Gate,
        warm: Warm | None,
    ):
        self.page, self.hardware, self.roots = page, hardware, roots
        self.mine, self.gate = mine, gate
        self.folder = Path(tempfile.mkdtemp(prefix="book-"))
        sources = [*(cell.source for cell in page.cells), "pass"]
        self.book = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in sources]
        )
        self.manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=str(self.folder / "kernel.json"),
            transport="ipc" if os.name == "posix" else "tcp",
        )
        if warm:
            provision(self.manager, warm)
        self.client = NotebookClient(
            self.book,
            km=self.manager,
            allow_errors=True,
            shutdown_kernel="immediate",
            record_timing=False,
            # A short traceback: no page shows one, and long ones take long to make.
            extra_arguments=["--InteractiveShell.xmode=Plain"],
        )
        self.process = None
        self.spent = 0.0

    async def entry(self) -> Entry:
        """Run the page; raises `Problem` at the first cell that fails."""
        work = self.folder / "work"
        work.mkdir()
        env = self.env = environment(self.hardware.target, *self.roots)
        env |= dict.fromkeys(THREADS, str(len(self.mine)))
        env |= {"IPYTHONDIR": str(self.folder / "ipython")}
        try:
            async with AsyncExitStack() as kernel:
                starting = self.client.async_setup_kernel(env=env, cwd=str(work))
                async with self.gate.shared():
                    try:
                        await kernel.enter_async_context(starting)
                    except RuntimeError as error:  # as Jupyter says that it gave up
                        first = self.page.cells[0]
                        reason = f"its kernel did not start: {error}"
                        raise self._problem(first, reason) from None
                self.process = self.manager.provisioner.process
                _pin(self.process, self.mine)
                try:
                    await self._run()
                finally:
                    _kill(self.process)
        except DeadKernelError:
            raise self._died() from None
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        outputs = [node.outputs for node in self.book.cells[:-1]]
        executed = datetime.now(UTC).isoformat(timespec="seconds")
        return Entry(outputs, executed, round(self.spent, 2))

    async def _run(self) -> None:
        watch = Watch(self.page, self.client.kc)
        await watch.begin()
        for cell, node in zip(self.page.cells, self.book.cells, strict=False):
            await self._execute(cell, node)
            self._judge(cell, node)
            await watch.after(cell)
        # What reached stderr from below Python while the last cell ended.
        last, nothing = self.page.cells[-1], self.book.cells[-1]
        self.client.timeout = 60
        await self.client.async_execute_cell(nothing, last.number)
        if warned := self._sift(nothing.outputs)[2]:
            raise self._problem(last, f"wrote to stderr: {warned}")

    async def _execute(self, cell: Cell, node) -> None:
        """Run one cell; what it waits for others does not count."""
        self.client.timeout = max(1, math.ceil(self.page.budget - self.spent))
        async with self.gate.alone() if cell.alone else self.gate.shared():
            begin = time.perf_counter()
            try:
                if cell.fresh:
                    await self._fresh(cell, node)
                else:
                    await self.client.async_execute_cell(node, cell.number - 1)
            except TimeoutError:  # nbclient's is one, too
                self.spent += time.perf_counter() - begin
                raise self._problem(
                    cell,
                    f"was still running after {self.spent:.0f} s; the page's budget "
                    f"is {self.page.budget:.0f} s",
                ) from None
            self.spent += time.perf_counter() - begin

    async def _fresh(self, cell: Cell, node) -> None:
        limit, work = self.client.timeout, self.folder / "work"
        node.outputs = await fresh.run(cell.source, self.env, work, self.mine, limit)
        node.execution_count = cell.number

    def _judge(self, cell: Cell, node) -> None:
        """Leave in `node` what a reader sees; raises `Problem` if it must not be."""
        node.outputs, errors, warned = self._sift(node.outputs)
        if warned:
            raise self._problem(cell, f"wrote to stderr: {warned}")
        if error := errors[0] if errors else None:
            said = f"{error.ename}: {_first_line(error.evalue)}".rstrip(": ")
            if not cell.raises:
                raise self._problem(cell, f"raised {said}{_where(cell, error)}")
            kind, _, piece = cell.raises.partition(":")
            if error.ename != kind.strip() or piece.strip() not in error.evalue:
                raise self._problem(
                    cell, f"declares {cell.raises!r}, but raised {said}"
                )
            shown = nbformat.v4.new_output("stream", name="stdout", text=said + "\n")
            node.outputs.append(shown)
        elif cell.raises:
            raise self._problem(cell, f"declares {cell.raises!r}, but raised nothing")
        for output in node.outputs:
            if "execution_count" in output:
                output.execution_count = None
        if leak := self._leak(cell, node.outputs):
            raise self._problem(cell, f"shows {leak}, which is this machine's own")

    def _sift(self, outputs: list) -> tuple[list, list, str]:
        """Part what a reader sees from errors and from what went to stderr."""
        quiet = [re.compile(pattern) for pattern in self.hardware.target.quiet]
        shown, errors, warned = [], [], []
        for output in outputs:
            if output.output_type == "error":
                errors.append(output)
            elif output.get("name") == "stderr":
                lines = _ANSI.sub("", output.text).strip().splitlines()
                warned += [x for x in lines if not any(q.search(x) for q in quiet)]
            elif shown and output.get("name") == "stdout" == shown[-1].get("name"):
                shown[-1].text += output.text
            else:
                shown.append(output)
        return shown, errors, " | ".join(line.strip() for line in warned if line)

    def _leak(self, cell: Cell, outputs: list) -> str | None:
        texts = [[*output.get("data", {}).values()] for output in outputs]
        texts += [[output.get("text", "")] for output in outputs]
        text = "\n".join(str(piece) for pieces in texts for piece in pieces)
        for private in local_strings(*self.roots):
            if private in text and private not in cell.source:
                return private
        return None

    def _died(self) -> Problem:
        done = sum(bool(node.execution_count) for node in self.book.cells[:-1])
        cell = self.page.cells[min(done, len(self.page.cells) - 1)]
        code = self.process.returncode if self.process else None
        if code is None or code >= 0:
            return self._problem(cell, f"its kernel stopped with exit status {code}")
        how = f"its kernel was killed by {signal.Signals(-code).name}"
        if code == -signal.SIGKILL:
            how += ", as happens when memory runs out"
        return self._problem(cell, how)

    def _problem(self, cell: Cell, reason: str) -> Problem:
        return Problem(self.page.name, reason, cell.line, cell.number)


def local_strings(*roots: Path) -> list[str]:
    """Paths and names of this machine, none of which may be published."""
    user, host = getpass.getuser(), socket.gethostname()
    found = {str(root) for root in roots} | {sys.prefix, tempfile.gettempdir() + "/"}
    found |= {f"/home/{user}", f"/Users/{user}", f"{user}@"}
    if len(str(Path.home())) > 1:
        found.add(f"{Path.home()}/")
    if len(host) > 4 and host != "localhost":
        found.add(host)
    return sorted(found)


def _first_line(text: str) -> str:
    lines = [line for line in _ANSI.sub("", text).strip().splitlines() if line.strip()]
    return lines[0].strip() if lines else ""


def _where(cell: Cell, error) -> str:
    """The cell's own line that was running, taken from IPython's traceback."""
    told = _ANSI.sub("", "".join(error.traceback))
    lines = re.findall(r"Cell In\[\d+\], line \d+.*\n\s+(.*)", told)
    lines = [line for line in lines if line in cell.source]
    return f" at `{lines[-1]}`" if lines else ""


def _kill(process) -> None:
    """End a kernel and all it started; it leads a process group of its own."""
    if process is None:
        return
    with suppress(OSError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)


def _pin(process, mine: list[int]) -> None:
    """Keep a kernel to its cores; the threads JAX starts later inherit them."""
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(process.pid, mine)
