"""What comes late, or is changed later, is judged as all that a cell puts out."""

import json
import re
import threading
import time

import pytest

from book import error_text
from book.execute import kernel_guard

LATE = """
import sys, threading, time

def late():
    for k in range(4):
        time.sleep(0.2)
        print("late", k)

"""
LATE_ASSERT = """
import threading, time

def late():
    time.sleep(0.3)
    assert False, "late and false"

threading.Thread(target=late).start()
"""
DISPLAY = "from IPython.display import HTML, Markdown, display, update_display\n"
SHOWS = f"{DISPLAY}display('before', display_id='k')"
READS = "from examples.place import folder\n"
STARTS = """import subprocess, sys

program = "from examples.place import folder; print(*open(folder / 'started.txt'))"
command = [sys.executable, "-c", program]
print("read", subprocess.run(command, check=True, capture_output=True).stdout)"""
PAGES = {
    "waited": [
        f"{LATE}threading.Thread(target=late).start()\nprint('cell 1')",
        "time.sleep(0.5)\nprint('cell 2')",
    ],
    "pool": [
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(2)\nassert pool.submit(int, 3).result() == 3",
        "pool.submit(print, 'from the pool').result()",
    ],
    "updated": [SHOWS, "update_display('after', display_id='k')"],
    "controls": [
        DISPLAY + r"display(HTML('<b>a\x1b[31m\x07\x08\x0bb</b>'))",
        r"display(Markdown('*c\x1b[31m\x07\x08\x0bd*'))",
        r"print('20% #\r40% ##', end='\r')" + "\n" + r"print('90%', 'x', sep='\r\n')",
    ],
    "opens": [
        "from pathlib import Path\nfrom examples.place import folder\n"
        "print('read', (folder / 'data.txt').read_text())",
        "import importlib\nprint('value', importlib.import_module('examples.m').x)",
        "print('there', (folder / 'later.txt').exists())\n"
        "try:\n    print(open(folder / 'later.txt').read())\nexcept OSError:\n    pass",
    ],
    # Files that another Python reads, and those that NumPy opens itself.
    "fresh": [f":fresh:\n{READS}print('read', (folder / 'fresh.txt').read_text())"],
    "started": [STARTS],
    "numbers": [
        f"import numpy as np\n{READS}"
        "print('read', np.fromfile(folder / 'file.raw', np.uint8).tobytes())",
        "print('read', np.memmap(folder / 'map.raw', np.uint8, 'r').tobytes())",
    ],
}
READ_ELSEWHERE = [
    ("fresh", "fresh.txt"),
    ("started", "started.txt"),
    ("numbers", "file.raw"),
    ("numbers", "map.raw"),
]
REFUSED = {
    "asserts": ([LATE_ASSERT], "cell 2: wrote to stderr: .*late and false"),
    "daemon": (
        [
            f"{LATE}threading.Thread(target=late, daemon=True).start()",
            "time.sleep(0.7)\nprint(2)",
            "time.sleep(0.7)\nprint(3)",
        ],
        "cell 2: (wrote to stderr: a thread of an earlier cell|what it, or a cell)",
    ),
    "address": (
        [SHOWS, "update_display(object(), display_id='k')"],
        "cell 1: shows .*an address",
    ),
    "long": (
        [SHOWS, "update_display('x' * 30_000, display_id='k')"],
        "cell 1: puts out a line of 30,00. letters",
    ),
    "path": (
        [SHOWS, "import os\nupdate_display(os.getcwd(), display_id='k')"],
        "cell 1: shows .*this machine's own",
    ),
    "flood": (
        ["import os\nfor _ in range(9_000): os.write(2, b'flood ' * 100 + b'\\n')"],
        "cell 1: .*(puts out more than|flood flood)",
    ),
}


@pytest.fixture(scope="module")
def built(shared):
    """A book of pages that pass, and of others that do not."""
    shared.write("examples/data.txt", "one")
    for _, file in READ_ELSEWHERE:
        shared.write(f"examples/{file}", "one")
    shared.write(
        "examples/place.py",
        "from pathlib import Path\n\nfolder = Path(__file__).parent\n",
    )
    shared.write("examples/m.py", "x = 'first'\n")
    for name, cells in PAGES.items():
        shared.page(name, *cells)
    for name, (cells, _) in REFUSED.items():
        # The check stands first, so that a page can end with what comes late.
        shared.page(name, ":check:\nassert True", *cells)
    return shared.build()


def outputs(book, name: str) -> list[str]:
    """What the cells of a page put out, from its notebook."""
    folder = book.docs / "_build" / "jupyter_execute"
    cells = json.loads((folder / f"{name}.ipynb").read_text())["cells"]
    return ["".join(map(str, c["outputs"])) for c in cells if c["cell_type"] == "code"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_comes_late_or_is_changed_later_is_judged(built, name):
    _, reason = REFUSED[name]
    reason = re.sub(r"cell (\d)", lambda m: f"cell {int(m[1]) + 1}", reason)
    if name == "asserts":
        reason = reason.replace("cell 3", "cell 2")
    found = re.findall(rf"{name}.md.*WARNING: {name}, .*", built.said)
    assert found and re.search(reason, found[0]), built.said[-5000:]
    assert len(built.said) < 40_000


def test_pages_that_wait_for_what_they_start_pass(built, shared):
    for name in PAGES:
        assert f"{name}.md" not in built.said, built.said[-5000:]
    first, second, *_ = outputs(shared, "waited")
    assert all(f"late {k}" in first for k in range(4)) and "cell 1" in first
    assert "late" not in second and "cell 2" in second
    assert "from the pool" in outputs(shared, "pool")[1]
    assert "after" in outputs(shared, "updated")[0]
    for text in (shared.text("controls"), (shared.html / "controls.md").read_text()):
        assert not set(text) & set("\x1b\x07\x08\x0b\r")
    assert "<b>ab</b>" in shared.text("controls")
    assert "40% ##" not in outputs(shared, "controls")[2]
    assert "90%" in outputs(shared, "controls")[2]


def test_a_page_runs_again_when_what_it_has_read_changes(built, shared):
    assert "read one" in outputs(shared, "opens")[0]
    for path, text, shown in (
        ("examples/data.txt", "two", "read two"),
        ("examples/m.py", "x = 'second'\n", "value second"),
        ("examples/later.txt", "arrived", "there True"),
    ):
        shared.write(path, text)
        said = shared.build().said
        assert re.search(r"opens: running", said)
        assert not re.search("(waited|updated|controls): running", said)
        assert shown in "".join(outputs(shared, "opens"))
    (shared.root / "examples" / "later.txt").unlink()
    shared.build()
    assert "there False" in outputs(shared, "opens")[2]


def test_a_page_runs_again_when_what_another_program_has_read_changes(built, shared):
    for page, _ in READ_ELSEWHERE:
        assert "one" in outputs(shared, page)[0]
    for number, (page, file) in enumerate(READ_ELSEWHERE):
        shared.write(f"examples/{file}", f"number {number}")
        said = shared.build().said
        ran = set(re.findall(r"\] (\w+): running", said))
        assert ran & PAGES.keys() == {page}, said[-5000:]
        assert f"number {number}" in "".join(outputs(shared, page))


def test_a_thread_without_an_end_is_named(capsys):
    threads, done = kernel_guard.Threads(0.1), threading.Event()
    threading.Thread(target=done.wait, name="endless").start()
    begin = time.monotonic()
    threads.after_cell(None)
    done.set()
    assert time.monotonic() - begin < 5
    assert "the thread endless has not ended; join it" in capsys.readouterr().err


def test_text_is_as_a_terminal_shows_it_in_the_end():
    assert error_text.plain("1%\r50%\r99%\nend\r\n") == "99%\nend\n"
    assert error_text.plain("only\r") == "only"
