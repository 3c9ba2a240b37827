"""Which cores the processes of a page use, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

from book.execute.fork_server import ForkedProcess

Process = subprocess.Popen[bytes] | ForkedProcess


def kill_group(process: Process | None) -> None:
    """Kill a process and its group, and wait; a fork server kills what else it left."""
    if process is None or process.poll() is not None:
        return
    with suppress(OSError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def keep_to_cores(process: Process, cores: list[int]) -> None:
    """Let a process run on `cores` only; the threads JAX starts later inherit them."""
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(process.pid, cores)
