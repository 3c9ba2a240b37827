"""A fresh cell is a program: it runs in a Python of its own, where nothing is set.

What a page says about starting JAX can be shown only there: in a kernel, JAX has
started already, on the devices of the page.  Since nothing is set, JAX takes what it
finds: a GPU of the machine even under the target `cpu`, and a TPU only where the page's
own kernel does not hold it.
"""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import nbformat

from book.execute.fork import Child, ForkServer

_NAME, _STREAMS = "program.py", ("stdout", "stderr")
_BEGIN = "Traceback (most recent call last):\n"
_CHAINED = "another exception occurred:", "direct cause of the following exception:"


def environment(whole: Mapping[str, str]) -> dict[str, str]:
    """The part of the environment `whole` that says nothing to JAX."""
    steers = ("JAX_", "XLA_")
    return {name: value for name, value in whole.items() if not name.startswith(steers)}


def start(
    source: str, env: Mapping[str, str], cwd: Path, server: ForkServer | None
) -> Child | subprocess.Popen:
    """Start `source` as a program in the folder `cwd`, with its files beside that."""
    program, out, err = (cwd.parent / name for name in (_NAME, *_STREAMS))
    program.write_text(source, encoding="utf-8")
    command, env = [sys.executable, "-P", str(program)], environment(env)
    if server:
        return server.start("command", command, cwd, env, (out, err))
    with out.open("wb") as stdout, err.open("wb") as stderr:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )


async def outputs_of(
    process: Child | subprocess.Popen, cwd: Path
) -> list[nbformat.NotebookNode]:
    """Wait for a program, and return outputs as a kernel's cell has them."""
    while process.poll() is None:
        await asyncio.sleep(0.05)
    said = ((cwd.parent / name).read_bytes() for name in _STREAMS)
    return outputs(
        process.returncode, *(part.decode(errors="replace") for part in said)
    )


def outputs(status: int, out: str, err: str) -> list[nbformat.NotebookNode]:
    """The outputs of a program that ended with `status` and wrote `out` and `err`."""
    error = None
    if status:
        err, begin, trace = err.rpartition(_BEGIN)
        if err.rstrip().endswith(_CHAINED):  # the error has a cause, with its own trace
            err = err.partition(_BEGIN)[0]
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
