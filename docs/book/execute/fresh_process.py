"""A fresh cell runs as a program, in a Python of its own where nothing of JAX is set.

What a page says about starting JAX can be shown only there: in a kernel, JAX has
started already, on the devices of the page.  Since nothing is set but how the memory of
a GPU is shared, JAX takes what it finds: a GPU of the machine even under the target
`cpu`, and a TPU only where the page's own kernel does not hold it.
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
from nbformat import NotebookNode

from book.execute.fork_server import ForkServer
from book.execute.processes import Process

_PROGRAM = "program.py"
# Whether JAX takes most of a GPU's memory at once, and no other program can have it.
RESERVES_MEMORY = "XLA_PYTHON_CLIENT_PREALLOCATE"
_TRACEBACK = "Traceback (most recent call last):\n"
_CHAINED = "another exception occurred:", "direct cause of the following exception:"


def start(
    source: str, env: Mapping[str, str], cwd: Path, server: ForkServer | None
) -> Process:
    """Start `source` as a program in the folder `cwd`, and in `env` without JAX's part.

    Its files lie beside that folder.
    """
    program, out, err = _files(cwd)
    program.write_text(source, encoding="utf-8")
    command = [sys.executable, "-P", str(program)]
    env = {
        name: value
        for name, value in env.items()
        if not name.startswith(("JAX_", "XLA_")) or name == RESERVES_MEMORY
    }
    if server:
        return server.start("command", command, cwd, env, out, err)
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


def _files(cwd: Path) -> tuple[Path, Path, Path]:
    """The program that runs in the folder `cwd`, and what it writes."""
    names = _PROGRAM, "program-stdout", "program-stderr"
    program, out, err = (cwd.parent / name for name in names)
    return program, out, err


async def outputs_of(process: Process, cwd: Path) -> list[NotebookNode]:
    """Wait for a program, and return outputs as a kernel's cell has them."""
    while (status := process.poll()) is None:
        await asyncio.sleep(0.05)
    _, out, err = _files(cwd)
    texts = (path.read_bytes().decode(errors="replace") for path in (out, err))
    return _outputs(status, *texts)


def _outputs(status: int, out: str, err: str) -> list[NotebookNode]:
    """The outputs of a program that ended with `status` and wrote `out` and `err`."""
    errors = []
    if status:
        err, begin, trace = err.rpartition(_TRACEBACK)
        if err.rstrip().endswith(_CHAINED):  # the error has a cause, with its own trace
            err = err.partition(_TRACEBACK)[0]
        if status < 0:
            name, value = "SystemExit", f"ended by {signal.Signals(-status).name}"
        elif begin:
            name, value = _name_and_message(trace)
        else:
            name, value = "SystemExit", str(status)
        # As IPython says it, so that the line is found as for any other cell.
        trace = re.sub(rf'File ".*{_PROGRAM}", (line \d+)', r"Cell In[1], \1", trace)
        error = nbformat.v4.new_output("error", ename=name, evalue=value)
        error.traceback = [trace]
        errors.append(error)
    streams = [
        nbformat.v4.new_output("stream", name=name, text=text)
        for name, text in (("stdout", out), ("stderr", err))
        if text
    ]
    return streams + errors


def _name_and_message(trace: str) -> tuple[str, str]:
    """The name of the error, without its module, and the message of a traceback."""
    lines = trace.splitlines()
    first = next((k for k, line in enumerate(lines) if line[:1].strip()), 0)
    name, _, message = "\n".join(lines[first:]).partition(": ")
    return name.rpartition(".")[2].strip(), message
