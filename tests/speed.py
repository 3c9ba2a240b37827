"""Measure the build against its promises, on a copy of the book.

    python tests/speed.py

The floor is the time of the pages' own cells, each page in a process that has already
imported JAX, divided by the cores.  All figures are of one run on one machine; it
exits with 1 when a promise is broken.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "docs")]

from book.cut.launch import Launcher  # noqa: E402
from book.pages import read  # noqa: E402
from book.run.schedule import cores  # noqa: E402
from book.targets import environment, load  # noqa: E402

# A page's cells, timed in a process that has imported JAX before the clock starts.
CELLS = """
import contextlib, io, json, sys, time
import jax, jax.numpy
cells = json.load(sys.stdin)
names = {"__name__": "__main__"}
start = time.perf_counter()
with contextlib.redirect_stdout(io.StringIO()):
    for cell, raises in cells:
        try:
            exec(compile(cell, "cell", "exec"), names)
        except Exception:
            if not raises:
                raise
print(time.perf_counter() - start)
"""
DEFAULTS = """
extensions = ["myst_nb", "sphinx_design"]
myst_enable_extensions = ["colon_fence"]
exclude_patterns = ["_build", "book"]
html_theme = "furo"
nb_kernel_rgx_aliases = {".*": "python3"}
nb_execution_allow_errors = True  # some cells are meant to raise
nb_execution_timeout = 300
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


def floor(folder: Path, env: dict[str, str]) -> float:
    """Return the seconds of the pages' own cells, divided by the cores."""
    total = 0.0
    docs = folder / "docs"
    for path in sorted({*docs.glob("*.md"), *docs.glob("[!_b]*/*.md")}):
        page = read(path, path.stem)
        if page.cells:
            cells = [(cell.source, bool(cell.raises)) for cell in page.cells]
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


def snippets(folder: Path) -> tuple[int, float]:
    """Run all programs of the built copy, one launcher a core."""
    target = load(folder / "docs" / "targets.toml")["cpu"]
    programs = sorted((folder / "docs" / "_build" / "snippets").rglob("*.py"))

    def run(mine: list[Path]) -> None:
        with Launcher(target) as launcher:
            for path in mine:
                code, said = launcher.run(path.read_text(encoding="utf-8"))
                if code:
                    sys.exit(f"{path.name} failed alone:\n{said}")

    count = len(cores())
    start = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run, [programs[job::count] for job in range(count)]))
    return len(programs), time.perf_counter() - start


def main() -> int:
    """Measure, print a table, and return 1 if a promise is broken."""
    rows, broken = [], 0

    def row(what: str, seconds: float, promise: str, kept: bool) -> None:
        nonlocal broken
        broken |= not kept
        line = f"{what:<34} {seconds:8.2f} s   {promise:<42} {'kept' if kept else 'NO'}"
        rows.append(line)
        print(line, flush=True)

    with tempfile.TemporaryDirectory() as name:
        book = copy(Path(name, "book"))
        target = load(book / "docs" / "targets.toml")["cpu"]
        env = environment(target, book, book / "docs")
        least = floor(book, env)
        row(f"floor ({len(cores())} cores)", least, "", True)
        cold = build(book)
        most = 1.5 * least + 15
        row(
            "cold build", cold, f"at most 1.5 x floor + 15 s = {most:.1f}", cold <= most
        )

        plain = copy(Path(name, "plain"))
        (plain / "docs" / "conf.py").write_text(DEFAULTS, encoding="utf-8")
        record = plain / "docs" / "evidence" / "hardware.md"
        text = record.read_text(encoding="utf-8")
        record.write_text(re.sub(r"```\{record\}\n```", "", text), encoding="utf-8")
        serial = build(plain, env=env)
        ratio = serial / cold
        row(
            "MyST-NB as it comes, serially",
            serial,
            f"{ratio:.2f} of ours, at least 1.6",
            ratio >= 1.6,
        )

        same = statistics.median(build(book) for _ in range(3))
        row(
            "nothing changed",
            same,
            "under 3 s, nothing executed",
            same < 3 and not executed(book),
        )
        times = []
        for number in range(3):
            page = book / "docs" / "start" / "first_maps.md"
            page.write_text(page.read_text(encoding="utf-8") + f"\nEdit {number}.\n")
            times.append(build(book))
        prose = statistics.median(times)
        row(
            "one prose edit",
            prose,
            "under 4 s, nothing executed",
            prose < 4 and not executed(book),
        )
        program = book / "examples" / "start" / "first_maps.py"
        program.write_text(program.read_text(encoding="utf-8") + "\n# Edited.\n")
        edited = build(book)
        row(
            "one example edited",
            edited,
            f"executes {', '.join(sorted(executed(book)))}",
            executed(book) == {"start/first_maps"},
        )
        count, took = snippets(book)
        row(
            f"{count} programs, each alone",
            took,
            f"500 of them in {500 * took / count:.0f} s, at most 300",
            500 * took / count <= 300,
        )
    return int(broken)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(main())
