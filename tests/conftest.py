"""A small book to break: its own pages and examples, the real engine."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from book.execute.fork_server import AVAILABLE
from book.hardware.probe import Probe
from book.hardware.targets import load
from tests.builder import Builder
from tests.launcher import Launcher

REAL = Path(__file__).parent.parent
LIMIT = 180  # seconds after which a build hangs
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # What a shell starts in the background ignores Ctrl-C, and builds inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
CONF = """
from pathlib import Path
real = Path({conf!r})
__file__, mine = str(real), __file__
exec(compile(real.read_text(), str(real), "exec"))
__file__ = mine
templates_path = [str(real.parent / "_templates")]
html_static_path = [str(real.parent / "_static")]
html_favicon = None
"""
PLAIN = """
html_theme, html_theme_options = "basic", {}
html_static_path, html_css_files, html_js_files = [], [], []
"""
PAGE = """---
file_format: mystnb
kernelspec:
  name: {kernel}
  display_name: {kernel}
book:
  kind: concept
  budget: {budget}
---

# {title}

{body}
"""


@cache
def _hardware() -> dict[str, str]:
    """What builds keep of the simulated devices, looked for once in a session."""
    cpu = load(REAL / "docs" / "targets.toml")["cpu"]
    with tempfile.TemporaryDirectory() as folder:
        Probe(cpu, Path(folder)).result()
        return {path.name: path.read_text() for path in Path(folder).glob("*.json")}


def _outside() -> dict[str, str]:
    """The environment of a build."""
    # A kernel that sees pytest at work does not listen below Python.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return {**inherited, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}


@cache
def _builder() -> Builder:
    """The Python that this process forks builds from."""
    builder = Builder()
    atexit.register(builder.close)
    return builder


@dataclass
class Built:
    """How one build went."""

    code: int
    said: str
    seconds: float


class Book:
    """A book in a folder of its own."""

    def __init__(self, folder: Path, conf: str = PLAIN):
        self.root = folder
        self.docs = folder / "docs"
        self.html = self.docs / "_build" / "html"
        self.docs.mkdir(parents=True)
        (folder / "examples").mkdir()
        real = CONF.format(conf=str(REAL / "docs" / "conf.py"))
        (self.docs / "conf.py").write_text(real + conf)
        self.targets((REAL / "docs" / "targets.toml").read_text())
        for name, text in _hardware().items():
            self.write(f"docs/_build/hardware/{name}", text)

    def copied(self, folder: Path) -> Book:
        """Return a copy of this book in `folder`, with what it has built."""
        copy = Book(folder)
        shutil.copytree(self.root, folder, dirs_exist_ok=True)
        return copy

    def targets(self, text: str) -> None:
        """Replace `targets.toml`."""
        (self.docs / "targets.toml").write_text(text)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the book as it stands."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def page(
        self,
        name: str,
        *cells: str,
        kernel="target",
        budget=60,
        prose="Prose.",
    ) -> Path:
        """Write a page; a cell starts with its options, if it has any.

        One without a check gets one, which is true.
        """
        if cells and not any(":check:" in cell for cell in cells):
            cells = *cells, ":check:\nassert True"
        fences = "\n\n".join(f"```{{code-cell}}\n{cell}\n```" for cell in cells)
        text = PAGE.format(
            kernel=kernel,
            budget=budget,
            title=name.title(),
            body=f"{prose}\n\n{fences}",
        )
        others = [
            p.stem for p in self.docs.glob("*.md") if p.stem not in (name, "index")
        ]
        if name != "index":
            self.index(*others, name)
        return self.write(f"docs/{name}.md", text)

    def index(self, *names: str) -> None:
        """Write an index that links the pages `names`."""
        listed = "\n".join(sorted(names))
        self.write("docs/index.md", f"# Index\n\n```{{toctree}}\n{listed}\n```\n")

    def arguments(self, *args: str) -> list[str]:
        """What sphinx-build is told."""
        options = ["-W", "--keep-going", "-b", "html"]
        return [*options, *args, str(self.docs), str(self.html)]

    def start(self, *args: str, env: dict[str, str] | None = None) -> subprocess.Popen:
        """Start a build in a Python of its own, and leave it running."""
        return subprocess.Popen(
            [sys.executable, "-m", "sphinx", *self.arguments(*args)],
            cwd=self.root,
            env={**_outside(), **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def build(self, *args: str, env: dict[str, str] | None = None) -> Built:
        """Build the book, to the end; where it has no `env` of its own, forked."""
        begin = time.perf_counter()
        if env is None and AVAILABLE:
            log = self.root.with_name(f"{self.root.name}.log")
            code = _builder().build(
                self.arguments(*args), self.root, _outside(), log, limit=LIMIT
            )
            said = log.read_text(encoding="utf-8", errors="replace")
            return Built(code, said, time.perf_counter() - begin)
        process = self.start(*args, env=env)
        try:
            said, _ = process.communicate(timeout=LIMIT)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return Built(process.returncode, said, time.perf_counter() - begin)

    def text(self, name: str) -> str:
        """The HTML of a page."""
        return (self.html / f"{name}.html").read_text()

    def record(self) -> dict:
        """The record of the last build."""
        return json.loads((self.html / "record.json").read_text())

    def executed(self) -> set[str]:
        """The pages that the last build executed."""
        pages = self.record()["pages"]
        return {name for name, page in pages.items() if page["executed"]}


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """An empty book."""
    return Book(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """An empty book for all tests of a module."""
    return Book(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="session")
def launcher(pytestconfig):
    """A Python that has imported JAX, to fork programs from."""
    with Launcher(pytestconfig.target, REAL / "docs" / "_build" / "xla") as kept:
        yield kept
