"""Draw a command and what it wrote, as it looks where a reader types it.

Promise: what is shown was run, in a folder with the programs that the command names and
nothing else.  A status that is not the expected one is an error, and so is a command
that does not end.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

from book.source.commands import named_programs

STEERS = re.compile("(JAX|XLA|SLURM|OMPI)_|.*_proxy$", re.IGNORECASE)
STAMP = re.compile(r"[EFIW]\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] (?:\[\d+\] )?")
DETAIL = re.compile(r" \[type\.googleapis\.com/[^]]*\]")
STACK = re.compile(
    r" +@ +0x|\*\*\* Check failure|=== Source Location|external/\S+:\d+$"
)
TRACE, COLUMNS = "Traceback (most recent call last):", 80


class Console:
    """A command and what came of it; `text` has its lines, one whole message each."""

    def __init__(self, command: str, lines: Iterable[str]):
        self.command, self.text = command, "\n".join(lines)

    def __repr__(self) -> str:
        shown = [f"$ {self.command}"]
        for line in self.text.splitlines():
            indent = " " * len(parted(line)[0])
            shown += textwrap.wrap(line, COLUMNS, subsequent_indent=indent) or [""]
        return "\n".join(shown)

    def _repr_markdown_(self) -> str:
        return f"````console\n{self!r}\n````"


def console(
    command: str,
    *,
    status: int | tuple[int, ...] = 0,
    only: str = "",
    seconds: float = 600,
    folder: str | Path | None = None,
) -> Console:
    """Run `command`, of which every program is found in examples/ by its name.

    status: that it must exit with, or several of which one is right.  only: a regular
    expression of the lines to show, each once; others become an ellipsis.  folder:
    where it runs, for commands that leave files to the next; a new one otherwise.
    Lines stand in the order of the processes that wrote them, as `[0] ` in front says.
    Raises `AssertionError` for another status, `TimeoutError` after `seconds`.
    """
    said, found = _run(command, seconds, folder)
    expected = status if isinstance(status, tuple) else (status,)
    if found not in expected:
        wanted = " or ".join(map(str, expected))
        last = " | ".join(said.strip().splitlines()[-3:])
        reason = f"`{command}` exits with {found}, not {wanted}; its last lines: {last}"
        raise AssertionError(f"{reason}\n{said}")
    lines = [parted(line) for line in said.splitlines()]
    lines.sort(key=lambda line: int(line[0][1:-2] or sys.maxsize))
    return Console(command, _chosen(_messages(lines), only))


def parted(line: str) -> tuple[str, str]:
    """Return the `[0] ` in front of a line, or nothing, and the line behind it."""
    found = re.match(r"\[\d+\] ", line)
    number = found[0] if found else ""
    return number, line[len(number) :]


def _run(command: str, seconds: float, kept: str | Path | None) -> tuple[str, int]:
    """Return what a command wrote, and its exit status."""
    words = shlex.split(command)
    if words[0] == "python":
        words[0] = sys.executable
    env = {k: v for k, v in os.environ.items() if not STEERS.match(k)}
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory() as folder:
        for name, path in named_programs(
            command, [*map(Path, filter(None, sys.path))]
        ).items():
            shutil.copy(path, Path(folder, name))
        with subprocess.Popen(
            words,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                said, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                raise TimeoutError(f"`{command}` runs for {seconds} s") from None
            finally:
                process.terminate()  # a launcher ends what it launched
                with suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                with suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
    return said.replace(str(folder), "."), process.returncode


def _messages(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield lines without times, threads and stacks; an error without its traceback."""
    tracing = set()
    for number, line in lines:
        if line == TRACE:
            tracing.add(number)
        elif number in tracing and line.startswith(" "):
            continue
        elif not STACK.match(line):
            if re.match(r"[A-Za-z_][\w.]*: |\w+(Error|Interrupt)$", line):
                tracing.discard(number)
            yield number + DETAIL.sub("", STAMP.sub("", line))


def _chosen(lines: Iterable[str], only: str) -> list[str]:
    """Return the lines that match, with an ellipsis for those between."""
    found = []
    for line in lines:
        if only and line in found:
            continue
        if re.search(only, line):
            found.append(line)
        elif found[-1:] != ["…"]:
            found.append("…")
    return found
