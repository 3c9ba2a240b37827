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
from nbformat import NotebookNode

from book.source.model import Page

PATIENCE = 300  # seconds after which something hangs, on however busy a machine
# The last cell of a notebook, which runs first.  ipykernel's streams have no descriptor
# where it does not capture what is written below Python; `faulthandler` wants one.
SET_UP = """
__import__("sys").stdout.fileno = lambda: 1
__import__("sys").stderr.fileno = lambda: 2
assert False
"""


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


def prepare(
    page: Page, folder: Path
) -> tuple[NotebookNode, AsyncKernelManager, CellRunner]:
    """The notebook of `page`, the manager of its kernel, and who runs it in `folder`.

    The notebook ends with a cell more: SET_UP, whose assertion has to fail.
    """
    manager = AsyncKernelManager(
        kernel_name="python3",
        client_factory=Client,
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        connection_file=str(folder / "kernel.json"),
        transport="ipc" if os.name == "posix" else "tcp",
    )
    book = notebook([*(cell.source for cell in page.cells), SET_UP])
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
