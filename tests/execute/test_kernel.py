"""A page as Jupyter runs it."""

import asyncio
import json
import sys

import pytest
from nbclient.exceptions import DeadKernelError

from book.execute import kernel
from book.source.parser import read
from tests.conftest import Book


def test_a_cell_that_is_cancelled_leaves_nobody_watching_its_kernel(tmp_path):
    """The watch would find a client that is gone, and say so in a traceback."""
    page = read(Book(tmp_path / "book").page("page", "while True: pass"), "page")

    async def others() -> set[asyncio.Task]:
        await asyncio.sleep(0)  # those that have been cancelled end
        return asyncio.all_tasks() - {asyncio.current_task()}

    async def cancelled() -> set[asyncio.Task]:
        book, _, client = kernel.prepare(page, tmp_path, tmp_path)
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


def start(page, folder, change):
    """Start the kernel of `page`, once `change` has been at its manager and client."""

    async def started():
        _, manager, client = kernel.prepare(page, folder, folder)
        change(manager, client)
        await client.async_start_new_kernel(cwd=str(folder))
        try:
            async with asyncio.timeout(kernel.PATIENCE):
                await client.async_start_new_kernel_client()
        finally:
            if client.km:  # nbclient has not cleaned up
                await client._async_cleanup_kernel()

    asyncio.run(started())


def test_a_page_may_set_the_devices_that_its_kernel_has(book):
    """Before and after JAX has started; a type in a comment has its kernel watched."""
    line = 'jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices'
    book.page(
        "eight",
        f"import jax\n{line}\nx = jax.numpy.ones(3)  # float32[3]",
        f"{line}\nprint(len(jax.devices()), 'devices')",
        kernel="mesh-of-eight",
    )
    built = book.build()
    assert built.code == 0, built.said
    assert "8 devices" in book.text("eight")


def test_a_kernel_that_goes_on_talking_is_ready(tmp_path):
    """Jupyter's own wait lasts until a kernel has been silent for a while."""
    page = read(Book(tmp_path / "book").page("page", "pass"), "page")
    talks = "threading.Thread(target=talk, daemon=True).start()"
    says = "def talk():\n while not threading.Event().wait(0.05): print(1, flush=True)"

    def talking(_, client):
        for line in ("import threading", says, talks):
            client.extra_arguments += [f"--IPKernelApp.exec_lines={line}"]

    start(page, tmp_path, talking)


def test_a_kernel_that_ends_before_it_answers_is_not_waited_for(tmp_path):
    page = read(Book(tmp_path / "book").page("page", "pass"), "page")
    spec = {"argv": [sys.executable, "-c", "pass"], "display_name": "", "language": ""}
    (tmp_path / "specs" / "python3").mkdir(parents=True)
    (tmp_path / "specs/python3/kernel.json").write_text(json.dumps(spec))

    def ending(manager, _):
        manager.kernel_spec_manager.ensure_native_kernel = False
        manager.kernel_spec_manager.kernel_dirs = [str(tmp_path / "specs")]

    with pytest.raises(RuntimeError, match="died before it answered"):
        start(page, tmp_path, ending)
