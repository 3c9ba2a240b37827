"""The cells of one page run in a kernel, and whatever goes wrong is a `Problem`.

A cell may raise only what it declares, write nothing to stderr, show no path of this
machine, and the page has to keep to its budget: processor seconds of its kernel and of
all that it starts.  How busy the machine is makes a page slow, never wrong.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import psutil
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from book.pages import Cell, Page, Problem
from book.run import fresh, messages
from book.run.cache import Entry
from book.run.fork import ForkServer, provision
from book.run.watch import Watch
from book.targets import Hardware, environment

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PJRT_NPROC")
HIDDEN = ("pass", "assert False")  # run after the cells, and before them
PATIENCE = 300  # seconds after which something hangs, on however busy a machine
OUTPUT = 1_000_000  # letters that a cell may put out
STILL = "was still running, and "
LINE = 20_000  # letters in a line of them
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b.|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class PageRun:
    """One run of `page` on `hardware`, on the cores `mine`, with files in `folder`.

    `roots` are put on its import path.
    """

    def __init__(
        self,
        page: Page,
        hardware: Hardware,
        roots: tuple[Path, ...],
        mine: list[int],
        folder: Path,
    ):
        self.page, self.hardware, self.roots = page, hardware, roots
        self.mine, self.folder = mine, folder
        sources = [*(cell.source for cell in page.cells), *HIDDEN]
        self.book = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in sources]
        )
        self.manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=str(self.folder / "kernel.json"),
            transport="ipc" if os.name == "posix" else "tcp",
        )
        self.client = NotebookClient(
            self.book,
            km=self.manager,
            allow_errors=True,
            shutdown_kernel="immediate",
            record_timing=False,
            startup_timeout=PATIENCE,
            iopub_timeout=PATIENCE,  # outputs that come later are lost
            # A short traceback: no page shows one, and long ones take long to make.
            extra_arguments=["--InteractiveShell.xmode=Plain"],
        )
        self.process = None
        self.spent = 0.0  # seconds in which its cells ran
        self._idle = 0.0  # processor seconds of the kernel before its first cell

    async def entry(self, server: ForkServer | None) -> Entry:
        """Run the page in a kernel from `server`; raises `Problem` where it fails."""
        work = self.folder / "work"
        work.mkdir(parents=True)
        env = self.env = environment(self.hardware.target, *self.roots)
        env |= dict.fromkeys(THREADS, str(len(self.mine)))
        env |= {"IPYTHONDIR": str(self.folder / "ipython")}
        if server:
            speaks = any("environ" in cell.source for cell in self.page.cells)
            provision(self.manager, server, warm=not speaks)
        try:
            await self._start(env, work)
            await self._run()
        except DeadKernelError:
            raise self._died() from None
        finally:
            _kill(self.process)
            await self._clean()
        outputs = [node.outputs for node in self.book.cells[: len(self.page.cells)]]
        executed = datetime.now(UTC).isoformat(timespec="seconds")
        return Entry(outputs, executed, round(self.spent, 2))

    async def _start(self, env: dict[str, str], work: Path) -> None:
        """Start the kernel, and see that an assertion in it can fail."""
        try:
            await self.client.async_start_new_kernel(env=env, cwd=str(work))
            self.process = self.manager.provisioner.process
            _pin(self.process, self.mine)
            await self.client.async_start_new_kernel_client()
        except RuntimeError as error:  # as Jupyter says that it gave up
            reason = f"its kernel did not start: {error}"
            raise self._problem(self.page.cells[0], reason) from None
        proof = await self._hidden(1)
        if not any(output.get("ename") == "AssertionError" for output in proof.outputs):
            reason = "assertions are off in its kernel, so nothing is verified"
            raise self._problem(self.page.cells[0], reason)
        self._idle = processor_seconds(self.process.pid)

    async def _clean(self) -> None:
        """Remove what the kernel used; it has been killed."""
        with suppress(RuntimeError):
            await self.client._async_cleanup_kernel()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _run(self) -> None:
        watch = Watch(self.page, self.client.kc)
        await watch.begin()
        for cell, node in zip(self.page.cells, self.book.cells, strict=False):
            await self._execute(cell, node)
            self._judge(cell, node)
            await watch.after(cell)
        # What reached stderr from below Python while the last cell ended.
        last, nothing = self.page.cells[-1], await self._hidden(0)
        if warned := self._sift(nothing.outputs)[2]:
            raise self._problem(last, f"wrote to stderr: {warned}")

    async def _hidden(self, which: int):
        """Run one of HIDDEN, and return it with what it put out."""
        index = len(self.page.cells) + which
        node = self.book.cells[index]
        await self.client.async_execute_cell(node, index, store_history=False)
        return node

    async def _execute(self, cell: Cell, node) -> None:
        """Run one cell, and look after it while it runs."""
        if cell.fresh:
            running = self._fresh(cell, node)
        else:
            running = self.client.async_execute_cell(node, cell.number - 1)
        task = asyncio.ensure_future(running)
        begin, before = time.perf_counter(), self.spent
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=0.25)
                self.spent = before + time.perf_counter() - begin
                self._limit(
                    cell, node, "" if task.done() else "was still running, and "
                )
        finally:
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, DeadKernelError):
                    await task
        task.result()

    def _limit(self, cell: Cell, node, still: str) -> None:
        """Raise `Problem` when the page takes too long, or says too much."""
        budget = self.page.budget
        used = processor_seconds(self.process.pid) - self._idle
        if used > budget:
            raise self._problem(
                cell,
                f"{still}the page has used {used:.1f} s of processor time; "
                f"the page's budget is {budget:g} s",
            )
        if self.spent > max(PATIENCE, 10 * budget):
            raise self._problem(
                cell,
                f"{still}the page has taken {self.spent:.0f} s, with {used:.1f} s of "
                "processor time: it hangs",
            )
        if sum(len(text) for o in node.outputs for text in _texts(o)) > OUTPUT:
            raise self._problem(
                cell, f"{still}it puts out more than {OUTPUT:,} letters"
            )

    async def _fresh(self, cell: Cell, node) -> None:
        limit, work = max(PATIENCE, 10 * self.page.budget), self.folder / "work"
        node.outputs = await fresh.run(cell.source, self.env, work, self.mine, limit)
        node.execution_count = cell.number

    def _judge(self, cell: Cell, node) -> None:
        """Leave in `node` what a reader sees; raises `Problem` if it must not be."""
        node.outputs, errors, warned = self._sift(node.outputs)
        if warned:
            raise self._problem(cell, f"wrote to stderr: {warned}")
        if error := errors[0] if errors else None:
            said = messages.brief(error.ename, error.evalue)
            if not cell.raises:
                raise self._problem(cell, f"raised {said}{_where(cell, error)}")
            kind, _, piece = cell.raises.partition(":")
            if error.ename != kind.strip() or piece.strip() not in error.evalue:
                raise self._problem(
                    cell, f"declares {cell.raises!r}, but raised {said}"
                )
            text = messages.whole(error.ename, error.evalue) + "\n"
            for printed in node.outputs:
                if printed.get("name") == "stdout":
                    printed.text = messages.without_places(printed.text)
            node.outputs = [o for o in node.outputs if o.get("text") != ""]
            shown = nbformat.v4.new_output("stream", name="stdout", text=text)
            node.outputs.append(shown)
        elif cell.raises:
            raise self._problem(cell, f"declares {cell.raises!r}, but raised nothing")
        for output in node.outputs:
            if "execution_count" in output:
                output.execution_count = None
            self._clear(cell, output)
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

    def _clear(self, cell: Cell, output) -> None:
        """Leave no escape codes in what is shown, and no line without an end."""
        if "text" in output:
            output.text = messages.printable(output.text)
        data = output.get("data", {})
        if "text/plain" in data:
            data["text/plain"] = messages.printable(data["text/plain"])
        plain = [output.get("text", ""), data.get("text/plain", "")]
        longest = max(
            len(line) for text in plain for line in (text + "\n").splitlines()
        )
        if longest > LINE:
            raise self._problem(cell, f"puts out a line of {longest:,} letters")

    def _leak(self, cell: Cell, outputs: list) -> str | None:
        texts = [[*output.get("data", {}).values()] for output in outputs]
        texts += [[output.get("text", "")] for output in outputs]
        text = "\n".join(str(piece) for pieces in texts for piece in pieces)
        for private in [*local_strings(*self.roots), str(self.folder)]:
            if private in text and private not in cell.source:
                return private
        return None

    def _died(self) -> Problem:
        done = sum(
            bool(node.execution_count)
            for node in self.book.cells[: len(self.page.cells)]
        )
        cell = self.page.cells[min(done, len(self.page.cells) - 1)]
        code = self.process.returncode if self.process else None
        if code is None or code >= 0:
            return self._problem(cell, f"its kernel stopped with exit status {code}")
        if getattr(self.process, "lost", False):
            reason = "its kernel went down with the Python that forked it"
            return self._problem(cell, reason)
        how = f"its kernel was killed by {signal.Signals(-code).name}"
        if code == -signal.SIGKILL:
            how += ", as happens when memory runs out"
        return self._problem(cell, how)

    def _problem(self, cell: Cell, reason: str) -> Problem:
        return Problem(self.page.name, reason, cell.line, cell.number)


def local_strings(*roots: Path) -> list[str]:
    """Paths and names of this machine, none of which may be published."""
    host = socket.gethostname()
    found = {str(root) for root in roots} | {sys.prefix, tempfile.gettempdir() + "/"}
    with suppress(OSError, KeyError):  # a user id without a name
        user = getpass.getuser()
        found |= {f"/home/{user}", f"/Users/{user}", f"{user}@"}
    with suppress(RuntimeError):  # nor a folder
        if len(str(Path.home())) > 1:
            found.add(f"{Path.home()}/")
    if len(host) > 4 and host != "localhost":
        found.add(host)
    return sorted(found)


def _where(cell: Cell, error) -> str:
    """The cell's own line that was running, taken from IPython's traceback."""
    told = _ANSI.sub("", "".join(error.traceback))
    lines = re.findall(r"Cell In\[\d+\], line \d+.*\n\s+(.*)", told)
    lines = [line for line in lines if line in cell.source]
    return f" at `{lines[-1]}`" if lines else ""


def _texts(output) -> list[str]:
    """All the text of an output."""
    texts = [output.get("text", ""), output.get("evalue", "")]
    return [*texts, *map(str, output.get("data", {}).values())]


def processor_seconds(pid: int) -> float:
    """Processor time of a process and of all that it started, ended or not."""
    total = 0.0
    with suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in [parent, *parent.children(recursive=True)]:
            with suppress(psutil.Error):
                total += sum(process.cpu_times()[:4])
    return total


def _kill(process) -> None:
    """End a kernel and all of its group; the Python that forked it sees to the rest."""
    if process is None or process.poll() is not None:
        return
    with suppress(OSError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _pin(process, mine: list[int]) -> None:
    """Keep a kernel to its cores; the threads JAX starts later inherit them."""
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(process.pid, mine)
