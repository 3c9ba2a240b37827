"""A page as Jupyter runs it: a notebook, the manager of its kernel, and a client."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty

import nbformat
import zmq
from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

from book.source.model import Page

HIDDEN = ("pass", "assert False")  # run after the cells, and before them
PATIENCE = 300  # seconds after which something hangs, on however busy a machine


class Client(AsyncKernelClient):
    """A client that does not listen to heartbeats, whose end is a second of waiting.

    The manager knows whether the process lives, and that is asked instead.
    """

    def start_channels(self, shell=True, iopub=True, stdin=True, hb=True, control=True):
        """Start all channels but the heartbeat's."""
        # A forked kernel listens after 30 ms, and ZeroMQ knocks again after 100.
        self.context.setsockopt(zmq.RECONNECT_IVL, 5)
        super().start_channels(shell, iopub, stdin, hb=False, control=control)

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait until the kernel answers and its outputs arrive.

        Jupyter's own then waits until nothing has arrived for 0.2 s; nbclient asks of
        each output which cell it is of, so what is late does no harm.
        """
        until = time.monotonic() + (timeout or PATIENCE)
        while time.monotonic() < until:
            asked = self.kernel_info()
            with suppress(TimeoutError, Empty):
                await self._async_recv_reply(asked, timeout=1)
                await self.iopub_channel.get_msg(timeout=0.2)
                return
            if not await self._async_is_alive():
                raise RuntimeError("it died before it answered")
        raise RuntimeError(f"it did not answer within {timeout:g} s")


class Runner(NotebookClient):
    """A runner of cells that ends its watch over the kernel with the cell watched.

    nbclient leaves that of a cancelled cell behind; a second later it finds that the
    client is gone, and says so in a traceback.
    """

    _watch: asyncio.Future | None = None

    def _async_poll_kernel_alive(self) -> asyncio.Future:
        self._watch = asyncio.ensure_future(super()._async_poll_kernel_alive())
        return self._watch

    async def async_execute_cell(self, *args, **options) -> nbformat.NotebookNode:
        """Run a cell, as nbclient does."""
        try:
            return await super().async_execute_cell(*args, **options)
        finally:
            if self._watch:
                self._watch.cancel()


def notebook(sources: list[str]) -> nbformat.NotebookNode:
    """A notebook; `nbformat.v4` would validate each cell of it at length."""
    empty = {"cell_type": "code", "metadata": {}, "execution_count": None}
    cells = [{**empty, "outputs": [], "source": source} for source in sources]
    made = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return nbformat.from_dict(made)


def parts(
    page: Page, folder: Path
) -> tuple[nbformat.NotebookNode, AsyncKernelManager, Runner]:
    """The notebook of `page` with HIDDEN at its end, and who runs it in `folder`."""
    manager = AsyncKernelManager(
        kernel_name="python3",
        client_factory=Client,
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        connection_file=str(folder / "kernel.json"),
        transport="ipc" if os.name == "posix" else "tcp",
    )
    book = notebook([*(cell.source for cell in page.cells), *HIDDEN])
    client = Runner(
        book,
        km=manager,
        allow_errors=True,
        shutdown_kernel="immediate",
        record_timing=False,
        startup_timeout=PATIENCE,
        iopub_timeout=PATIENCE,  # outputs that come later are lost
        # A short traceback: no page shows one, and long ones take long to make.
        extra_arguments=[
            "--InteractiveShell.xmode=Plain",
            "--HistoryManager.enabled=False",
        ],
    )
    return book, manager, client
