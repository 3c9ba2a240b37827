"""A fresh cell is a program: it runs in a Python of its own, where nothing is set.

What a page says about starting JAX can be shown only there: in a kernel, JAX has
started already, on the devices of the page.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import nbformat

_NAME = "program.py"
_BEGIN = "Traceback (most recent call last):\n"


def environment(whole: Mapping[str, str]) -> dict[str, str]:
    """The part of the environment `whole` that says nothing to JAX."""
    steers = ("JAX_", "XLA_")
    return {name: value for name, value in whole.items() if not name.startswith(steers)}


async def run(
    source: str, env: Mapping[str, str], cwd: Path, mine: list[int], running: dict
) -> list[nbformat.NotebookNode]:
    """Run `source` on the cores `mine`, and return outputs as a kernel's cell has them.

    Its process is entered into `running`. Whoever cancels this ends the program.
    """
    path = cwd.parent / _NAME
    path.write_text(source, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", str(path)),
        cwd=cwd,
        env=environment(env),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        with suppress(OSError, AttributeError):
            os.sched_setaffinity(process.pid, mine)
        running[process.pid] = 0.0
        said = await process.communicate()
    finally:
        with suppress(OSError, AttributeError):
            os.killpg(process.pid, signal.SIGKILL)  # and whatever it has started
        await process.wait()
    return outputs(
        process.returncode, *(part.decode(errors="replace") for part in said)
    )


def outputs(status: int, out: str, err: str) -> list[nbformat.NotebookNode]:
    """The outputs of a program that ended with `status` and wrote `out` and `err`."""
    error = None
    if status:
        err, begin, trace = err.rpartition(_BEGIN)
        name, _, value = _last(trace) if begin else ("SystemExit", "", str(status))
        if status < 0:
            name, value = "SystemExit", f"ended by {signal.Signals(-status).name}"
        # As IPython says it, so that the line can be told as for any other cell.
        trace = re.sub(rf'File ".*{_NAME}", (line \d+)', r"Cell In[1], \1", trace)
        error = nbformat.v4.new_output("error", ename=name, evalue=value)
        error.traceback = [trace]
    made = [
        nbformat.v4.new_output("stream", name=name, text=text)
        for name, text in (("stdout", out), ("stderr", err))
        if text
    ]
    return made + ([error] if error else [])


def _last(trace: str) -> tuple[str, str, str]:
    """The name of the error (without its module), a colon, and the message."""
    lines = trace.splitlines()
    first = next((k for k, line in enumerate(lines) if line[:1].strip()), 0)
    name, colon, value = "\n".join(lines[first:]).partition(": ")
    return name.rpartition(".")[2].strip(), colon, value
