"""A kernel starts warm, and nothing but the imports has happened before it."""

import os
import re
import select
import signal
import subprocess
import sys

import pytest

from book.execute import kernel
from book.source.parser import read
from tests.conftest import Book

AXES = "{'rows', 'columns', 'data', 'model', 'batch', 'stage'}"


@pytest.fixture(scope="module")
def built(shared):
    """Pages that look around themselves, in one build."""
    shared.page(
        "first",
        "import jax\njax.config.update('jax_enable_x64', True)\nleft = 3\nassert left",
        "print('x64:', jax.numpy.arange(2.0).dtype)",
    )
    shared.page(
        "second",
        "mine = [n for n in dir() if not n.startswith('_')]\nassert 'open' in mine\n"
        "print('names:', sorted(set(mine) - {'In', 'Out'}))",
        "import jax\nprint('x64:', jax.numpy.arange(2.0).dtype)",
        f"import os\nprint('folder:', os.listdir())\nprint('in order:', *{AXES})",
    )
    shared.page(
        "early",
        ":tags: [remove-input]\n"  # as a lesson it would have to be `:fresh:`
        "import os\nos.environ['JAX_NUM_CPU_DEVICES'] = '3'\nimport jax\n"
        f"assert jax.device_count() == 3\nprint('in order:', *{AXES})",
    )
    result = shared.build("-D", "book_jobs=1")
    assert result.code == 0, result.said
    return shared


def test_pages_share_no_state(built):
    assert "x64: float64" in built.text("first")
    assert "x64: float32" in built.text("second")


def test_a_page_begins_with_no_name_but_its_own(built):
    names = re.search(r"names: \[(.*)\]", built.text("second"))[1]
    assert set(re.findall(r"\w+", names.replace("&#39;", ""))) <= {
        "exit",
        "quit",
        "open",
        "get_ipython",
        "mine",
    }


def test_the_end_of_a_kernel_waits_for_no_heartbeat(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(
        "jupyter_client.client.KernelClient.start_channels",
        lambda self, *_, **asked: started.append(asked),
    )
    page = read(Book(tmp_path / "book").page("page", "assert True"), "page")
    _, manager, _ = kernel.prepare(page, tmp_path, tmp_path)
    manager.client().start_channels()
    assert started == [{"hb": False, "control": True}]


def test_a_set_is_shown_in_one_order_by_every_build(built):
    command = [sys.executable, "-c", f"print(*{AXES})"]
    said = subprocess.check_output(command, env={"PYTHONHASHSEED": "0"}, text=True)
    assert f"in order: {said}" in built.text("second")
    assert f"in order: {said}" in built.text("early")


def test_a_page_can_set_the_environment_before_it_imports_jax(built):
    assert "early" in built.record()["pages"]


@pytest.mark.skipif(sys.platform != "linux", reason="uses pidfd")
def test_a_build_that_is_killed_takes_its_kernels_along(book):
    pipe = book.root / "pipe"
    os.mkfifo(pipe)
    book.page(
        "sleeping",
        f"import os\nassert True\nwith open({str(pipe)!r}, 'w') as file:\n"
        "    file.write(str(os.getpid()))",
        "import time\ntime.sleep(600)",
    )
    process = book.start()
    kernel = os.pidfd_open(int(pipe.read_text()))  # waits for the kernel to write
    os.kill(process.pid, signal.SIGKILL)
    ended, _, _ = select.select([kernel], [], [], 20)
    os.close(kernel)
    process.communicate(timeout=20)
    assert ended
