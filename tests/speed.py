"""Measure the build against its promises, on a copy of the book.

    python tests/speed.py

The floor is the time of the pages' own cells, each page in a process that has already
imported JAX, divided by the cores.  All figures are of one run on one machine; it
exits with 1 when a promise is broken.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "docs")]

from book.execute.scheduler import cores  # noqa: E402
from book.hardware.targets import environment, load  # noqa: E402
from book.snippets.slicer import Slicer, programs  # noqa: E402
from book.source.model import Page  # noqa: E402
from book.source.parser import read  # noqa: E402

# A page's cells, timed in a process that has imported JAX before the clock starts.
CELLS = """
import json, sys, time
import jax, jax.numpy
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
cells = json.load(sys.stdin)
shell = InteractiveShell.instance()
start = time.perf_counter()
for cell, raises in cells:
    with capture_output() as said:
        success = shell.run_cell(cell).success
    if not (success or raises):
        sys.exit(said.stdout)
print(time.perf_counter() - start)
"""


def build(folder: Path, *args: str, env: dict[str, str] | None = None) -> float:
    """Build the copy in `folder` and return the seconds it took."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", *args]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, str(folder / "docs"), str(folder / "docs" / "_build" / "html")],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"the build failed:\n{done.stderr[-2000:]}")
    return took


def executed(folder: Path) -> set[str]:
    """Return the pages that the last build executed."""
    path = folder / "docs" / "_build" / "html" / "record.json"
    pages = json.loads(path.read_text(encoding="utf-8"))["pages"]
    return {name for name, page in pages.items() if page["executed"]}


def copy(folder: Path) -> Path:
    """Copy what a build reads."""
    without = shutil.ignore_patterns("_build", "__pycache__")
    for part in ("docs", "examples"):
        shutil.copytree(ROOT / part, folder / part, ignore=without)
    return folder


def pages(folder: Path) -> list[Page]:
    """Read the pages of the copy."""
    paths = sorted((folder / "docs").rglob("*.md"))
    names = [path.relative_to(folder / "docs").with_suffix("") for path in paths]
    found = zip(paths, names, strict=True)
    return [read(path, name.as_posix()) for path, name in found if not _apart(name)]


def _apart(name: Path) -> bool:
    return name.parts[0] in ("_build", "book")


def floor(folder: Path, env: dict[str, str]) -> float:
    """Return the seconds of the pages' own cells, divided by the cores."""
    total = 0.0
    for page in pages(folder):
        if page.cells:
            every = [cell for cell in page.cells if not cell.fresh]
            cells = [(cell.source, bool(cell.raises)) for cell in every]
            done = subprocess.run(
                [sys.executable, "-c", CELLS],
                input=json.dumps(cells),
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                sys.exit(f"{page.name} failed:\n{done.stderr[-2000:]}")
            total += float(done.stdout.splitlines()[-1])
    return total / len(cores())


def cut(folder: Path) -> float:
    """Return the processor seconds of cutting all programs of the copy."""
    slicer, every = Slicer((folder, folder / "docs")), pages(folder)
    start = time.process_time()
    for page in every:
        programs(page, slicer, lambda problem: sys.exit(str(problem)))
    return time.process_time() - start


def main() -> int:
    """Measure, print a table, and return 1 if a promise is broken."""
    broken = False

    def row(what: str, seconds: float, promise: str, kept: bool) -> None:
        nonlocal broken
        broken |= not kept
        answer = "kept" if kept else "NO"
        print(f"{what:<22} {seconds:8.2f} s   {promise:<52} {answer}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        book = copy(Path(name, "book"))
        target = load(book / "docs" / "targets.toml")["cpu"]
        count = len(pages(book))
        took = cut(book)
        most = 0.03 * count
        row("cutting all programs", took, f"30 ms a page = {most:.1f}", took <= most)
        least = floor(book, environment(target, book, book / "docs"))
        row("floor", least, f"the cells of {count} pages on {len(cores())} cores", True)
        cold = build(book)
        most = 1.25 * least + 10
        said = f"at most 1.25 x floor + 10 s = {most:.1f}"
        row("cold build", cold, said, cold <= most)
        said = f"{cold / count:.2f} s a page, at most 2.2"
        row("cold build", cold, said, cold <= 2.2 * count)
        same = statistics.median(build(book) for _ in range(3))
        quiet = not executed(book)
        row("nothing changed", same, "at most 3 s, nothing runs", same <= 3 and quiet)
        times = []
        for number in range(3):
            page = book / "docs" / "start" / "first_maps.md"
            page.write_text(page.read_text(encoding="utf-8") + f"\nEdit {number}.\n")
            times.append(build(book))
        prose, quiet = statistics.median(times), not executed(book)
        row("one prose edit", prose, "at most 4 s, nothing runs", prose <= 4 and quiet)
        program = book / "examples" / "start" / "first_maps.py"
        program.write_text(program.read_text(encoding="utf-8") + "\n# Edited.\n")
        edited = build(book)
        right = executed(book) == {"start/first_maps"}
        row("one program edited", edited, "only its page runs", right)
    return int(broken)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(main())
