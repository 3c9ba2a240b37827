"""A page as Jupyter runs it."""

import asyncio

import pytest
from nbclient.exceptions import DeadKernelError

from book.pages import read
from book.run import kernel
from tests.conftest import Book


def test_a_cell_that_is_cancelled_leaves_nobody_watching_its_kernel(tmp_path):
    """The watch would find a client that is gone, and say so in a traceback."""
    page = read(Book(tmp_path / "book").page("page", "while True: pass"), "page")

    async def others() -> set[asyncio.Task]:
        await asyncio.sleep(0)  # those that have been cancelled end
        return asyncio.all_tasks() - {asyncio.current_task()}

    async def cancelled() -> set[asyncio.Task]:
        book, _, client = kernel.parts(page, tmp_path)
        await client.async_start_new_kernel(cwd=str(tmp_path))
        await client.async_start_new_kernel_client()
        before = await others()
        cell = asyncio.ensure_future(client.async_execute_cell(book.cells[0], 0))
        while not await others() - before - {cell}:
            pass
        cell.cancel()
        with pytest.raises(DeadKernelError):
            await cell
        left = await others() - before
        await client._async_cleanup_kernel()
        return left

    assert asyncio.run(cancelled()) == set()
