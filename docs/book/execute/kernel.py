"""A page as Jupyter runs it: a notebook, the manager of its kernel, and a client."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import zmq
from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode

from book import error_text
from book.execute import kernel_guard, opened_files
from book.source.model import Page

PATIENCE = 300  # seconds after which something hangs, on however busy a machine
# The last cell of a notebook, which runs first.  ipykernel's streams have no descriptor
# where it does not capture what is written below Python; `faulthandler` wants one.
_SET_UP = """
__import__("sys").stdout.fileno = lambda: 1
__import__("sys").stderr.fileno = lambda: 2
exec({opened!r}, {{"__name__": "_book_opened"}})
exec({guard!r}, {names!r} | {{"shell": get_ipython()}})
assert False
"""
_OPENED = "opened"  # the file in which a page's processes note what they read
_WATCH = "watch"  # the folder with what each Python that a page starts runs first
_PUT_OUT = {"stream", "display_data", "update_display_data", "execute_result", "error"}


class Client(AsyncKernelClient):
    """A client of a kernel without its heartbeats, for whose end it would wait 1 s.

    The manager knows whether the process lives, and that is asked instead.
    """

    def start_channels(
        self,
        shell: bool = True,
        iopub: bool = True,
        stdin: bool = True,
        hb: bool = True,
        control: bool = True,
    ) -> None:
        """Start all channels but the heartbeat's."""
        # A forked kernel listens after 30 ms; ZeroMQ would try again after 100.
        self.context.setsockopt(zmq.RECONNECT_IVL, 5)
        super().start_channels(shell, iopub, stdin, hb=False, control=control)

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait until the kernel answers and its outputs arrive.

        Raises `RuntimeError` when it ends before, or after `timeout` seconds.
        Jupyter's own method then waits until nothing has arrived for 0.2 s; nbclient
        asks of each output which cell it is of, so what is late does no harm.
        """
        timeout = timeout or PATIENCE
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            asked = self.kernel_info()
            with suppress(TimeoutError, Empty):
                await self._async_recv_reply(asked, timeout=1)
                await self.iopub_channel.get_msg(timeout=0.2)
                return
            if not await self._async_is_alive():
                raise RuntimeError("it died before it answered")
        raise RuntimeError(f"it did not answer within {timeout:g} s")


class CellRunner(NotebookClient):
    """A runner of cells that watches over the kernel only while a cell runs.

    nbclient goes on watching for a cell that was cancelled; a second later it finds
    that the client is gone, and says so in a traceback.
    """

    _watch: asyncio.Future | None = None

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.late: list[str] = []  # what came when the cell that put it out had ended

    async def _async_poll_output_msg(
        self, parent_msg_id: str, cell: NotebookNode, cell_index: int
    ) -> None:
        """Take a cell's outputs; nbclient loses those that come after its end."""
        with suppress(CellExecutionComplete):
            while True:
                message = await self.kc.iopub_channel.get_msg(timeout=None)
                if message["parent_header"].get("msg_id") == parent_msg_id:
                    self.process_message(message, cell, cell_index)
                else:
                    self._note_late(message)

    def _note_late(self, message: dict[str, Any]) -> None:
        asked = message["parent_header"].get("msg_type") == "execute_request"
        if asked and message["msg_type"] in _PUT_OUT:
            content = message["content"]
            data = content.get("data", {})
            text = content.get("text") or content.get("evalue") or str([*data.values()])
            self.late.append(error_text.first_line(text, "").strip())

    async def take_late_outputs(self) -> None:
        """Take note of what has been put out since the last cell ended."""
        asked, idle = self.kc.execute("", silent=True), False
        while not idle:
            message = await self.kc.iopub_channel.get_msg(timeout=PATIENCE)
            self._note_late(message)
            content = message["content"]
            if message["parent_header"].get("msg_id") == asked:
                idle = content.get("execution_state") == "idle"

    def _async_poll_kernel_alive(self) -> asyncio.Future:
        self._watch = asyncio.ensure_future(super()._async_poll_kernel_alive())
        return self._watch

    async def async_execute_cell(self, *args: Any, **options: Any) -> NotebookNode:
        """Run a cell, as nbclient does."""
        try:
            return await super().async_execute_cell(*args, **options)
        finally:
            if self._watch:
                self._watch.cancel()


def notebook(sources: list[str]) -> NotebookNode:
    """A notebook of code cells; `nbformat.v4` would validate each of them at length."""
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": source,
        }
        for source in sources
    ]
    made = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return nbformat.from_dict(made)


def read_by_page(folder: Path) -> set[Path]:
    """The files of the repository that a page whose files lie in `folder` has read."""
    names = (folder / _OPENED).read_bytes().split(b"\0")
    return {Path(os.fsdecode(name)) for name in names if name}


def watch_other_pythons(folder: Path, root: Path) -> str:
    """Let each Python that a page starts note what it reads below `root`.

    Returns the folder, in that of the page, which is to be first in PYTHONPATH.
    """
    place = folder / _WATCH
    place.mkdir()
    first = f"import_next_sitecustomize({str(place)!r})\n"
    program = _noting(folder, root) + first
    (place / "sitecustomize.py").write_text(program, encoding="utf-8")
    return str(place)


def _noting(folder: Path, root: Path) -> str:
    """The code that notes which files of the repository a process reads."""
    text = Path(opened_files.__file__).read_text(encoding="utf-8")
    return f"{text}\nnote_opened_files({str(root)!r}, {str(folder / _OPENED)!r})\n"


def _set_up(folder: Path, root: Path) -> str:
    """The code that runs before a page's own; its assertion has to fail."""
    guard = Path(kernel_guard.__file__).read_text(encoding="utf-8")
    guard += "\nbegin(shell, own, patience)\n"
    names: dict[str, object] = {"own": str(folder), "patience": PATIENCE / 2}
    names |= {"__name__": "_book_guard"}
    return _SET_UP.format(opened=_noting(folder, root), guard=guard, names=names)


def prepare(
    page: Page, folder: Path, root: Path
) -> tuple[NotebookNode, AsyncKernelManager, CellRunner]:
    """The notebook of `page`, the manager of its kernel, and who runs it in `folder`.

    The notebook ends with a cell more, which runs first: it watches over the others,
    and which files of the repository, at `root`, they read.
    """
    manager = AsyncKernelManager(
        kernel_name="python3",
        client_factory=Client,
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        connection_file=str(folder / "kernel.json"),
        transport="ipc" if os.name == "posix" else "tcp",
    )
    book = notebook([*(cell.source for cell in page.cells), _set_up(folder, root)])
    runner = CellRunner(
        book,
        km=manager,
        allow_errors=True,
        shutdown_kernel="immediate",
        record_timing=False,
        startup_timeout=PATIENCE,
        iopub_timeout=PATIENCE,  # outputs that come later are lost
        extra_arguments=[
            # A short traceback: no page shows one, and long ones take long to make.
            "--InteractiveShell.xmode=Plain",
            "--HistoryManager.enabled=False",
            # A thread of the kernel would read what is written below Python, and might
            # do so too late to know of which cell it is (`low_level_output`).
            "--IPKernelApp.capture_fd_output=False",
        ],
    )
    return book, manager, runner
