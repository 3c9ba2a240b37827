"""A page leaves nothing behind outside its folder."""

import html
import re
from pathlib import Path

import pytest

OUTSIDE = {
    "opened": "open({!r}, 'w')",
    "appended": "open({!r}, 'ab')",
    "by_path": "from pathlib import Path\nPath({!r}).write_text('left')",
    "by_number": "import os\nos.open({!r}, os.O_CREAT | os.O_RDWR)",
    "folder": "import os\nos.mkdir({!r})",
    "linked": "import os\nos.symlink('work', {!r})",
    "moved": "import os\nopen('x', 'w').close()\nos.replace('x', {!r})",
    "copied": "import shutil\nopen('x', 'w').close()\nshutil.copy('x', {!r})",
    "saved": "import numpy as np\nnp.save({!r}, np.ones(3))",
}
INSIDE = """
import json, multiprocessing, os, shutil, tempfile
from pathlib import Path

assert True
os.makedirs("a/b")
Path("a/b/one.txt").write_text("1")
os.rename("a/b/one.txt", "two.txt")
os.symlink("two.txt", "three.txt")
shutil.rmtree("a")
with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as file:
    file.write(b"1")
    Path(folder, "four.txt").write_text("4")
left = tempfile.mkdtemp()
multiprocessing.Manager().dict()["a"] = 1
print(sorted(os.listdir()), Path(left).parent.name)
"""


@pytest.fixture
def outside(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("outside")


def test_what_a_page_writes_outside_its_folder_is_refused(book, outside, monkeypatch):
    monkeypatch.setenv("HOME", str(outside))
    for name, cell in OUTSIDE.items():
        book.page(name, "assert True", cell.format(str(outside / f"{name}.npy")))
    book.page("home", "assert True\nimport os\nopen(os.path.expanduser('~/x'), 'w')")
    book.page("above", "assert True\nopen('../../../left-by-a-page.txt', 'w')")
    said = book.build().said
    why = "raised PermissionError: a page may write to its own folder and to temporary"
    for name in OUTSIDE:
        place = f"files, not to {outside / name}.npy at `"
        assert f"{name}, cell 2: {why} {place}" in said, said
    assert f"home, cell 1: {why} files, not to {outside}/x at `" in said
    assert f"above, cell 1: {why} files, not to " in said
    assert not [path for path in outside.iterdir() if path.name[0] != "."]


def test_in_its_folder_and_in_temporary_ones_a_page_may_write(book):
    book.write("examples/new.py", "x = 1\n")  # of which Python keeps the bytecode
    book.page("plain", f"from examples.new import x\n{INSIDE}")
    built = book.build(env={"PYTHONDONTWRITEBYTECODE": ""})
    assert built.code == 0, built.said
    text = html.unescape(re.sub("<[^>]+>", "", book.text("plain")))
    assert "['three.txt', 'two.txt'] tmp\n" in text
