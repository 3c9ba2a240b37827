"""Processes that start warm: forked from a Python that has imported JAX once.

Starting Python, IPython and JAX costs more than most pages do.  Nothing but imports has
happened when a process is forked: no device has been touched, and it gets a folder, an
environment and a session of its own.  `fork_server_main` is what runs in that Python.
"""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Literal

from jupyter_client import AsyncKernelManager
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner

PATIENCE = 300  # seconds for a fork, on however busy a machine
# Where Linux tells a process its children; `prctl` and `pidfd_open` are there, too.
AVAILABLE = Path(f"/proc/self/task/{os.getpid()}/children").exists()
_MAIN = Path(__file__).with_name("fork_server_main.py")


class ServerEnded(Exception):
    """The fork server has ended; another one may do better."""


class ForkedProcess:
    """A process that a fork server started, with the methods of `Popen` Jupyter calls.

    `lost` says whether it ended with its server.
    """

    stdin = stdout = stderr = None

    def __init__(self, answers: socket.socket, server: int):
        """Wait until the process `server` has started it; raises `ServerEnded`."""
        self._answers = answers.makefile("rb", buffering=0)  # so none is read too early
        answers.close()
        self._server = server
        self.lost = False
        self.returncode: int | None = None
        if not self._wait_for_answer(PATIENCE):
            os.kill(server, signal.SIGKILL)
        started = self._next_number()
        if started is None:
            raise ServerEnded
        self.pid = started

    def _next_number(self) -> int | None:
        """The number in the server's next answer; None when it has ended."""
        try:
            line = self._answers.readline()
        except OSError:
            line = b""
        if line:
            return int(line)
        self._answers.close()
        return None

    def _wait_for_answer(self, timeout: float | None) -> bool:
        """Whether the server answers, or ends, within `timeout` seconds.

        A page may have stopped it, as by SIGSTOP: it is told to go on.
        """
        until = time.monotonic() + (math.inf if timeout is None else timeout)
        while not wait([self._answers.fileno()], min(1, until - time.monotonic())):
            if time.monotonic() >= until:
                return False
            with suppress(ProcessLookupError):
                os.kill(self._server, signal.SIGCONT)
        return True

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs; negative is a signal."""
        return self.wait(0)

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait at most `timeout` seconds for the end; return what `poll` does."""
        if self.returncode is None and self._wait_for_answer(timeout):
            self.returncode = self._next_number()
            if self.returncode is None:
                self.lost, self.returncode = True, -signal.SIGKILL
            self._answers.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """A Python in the environment `env` that forks; close it after use."""

    def __init__(self, env: Mapping[str, str]):
        self._requests, theirs = socket.socketpair()
        with theirs:
            self._python = subprocess.Popen(
                [sys.executable, "-u", "-P", str(_MAIN), str(theirs.fileno())],
                env=dict(env),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the build, which closes it
            )
        self.pid = self._python.pid

    def start(
        self,
        kind: Literal["kernel", "program", "command"],
        arguments: list[str],
        cwd: Path | str,
        env: Mapping[str, str],
        stdout: Path | str = os.devnull,
        stderr: Path | str = os.devnull,
        limit: int = 0,
    ) -> ForkedProcess:
        """Start a process, from any thread; raises `ServerEnded`.

        The arguments are the keys of a request, which `fork_server_main` explains.
        """
        request = {
            "kind": kind,
            "arguments": arguments,
            "cwd": str(cwd),
            "env": dict(env),
            "stdout": str(stdout),
            "stderr": str(stderr),
            "limit": limit,
        }
        answers, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._requests, [b"+"], [theirs.fileno()])
            answers.sendall(json.dumps(request).encode())
            answers.shutdown(socket.SHUT_WR)
        except OSError:
            answers.close()
            raise ServerEnded from None
        return ForkedProcess(answers, self.pid)

    def close(self) -> None:
        """End the Python, and with it everything it forked that is left."""
        self._requests.close()
        while True:
            self._python.send_signal(signal.SIGCONT)  # a page may have stopped it
            with suppress(subprocess.TimeoutExpired):
                self._python.wait(1)
                return


class Provisioner(LocalProvisioner):
    """Starts the kernel of a Jupyter manager through a `ForkServer`."""

    server: ForkServer
    warm: bool

    async def launch_kernel(
        self, cmd: list[str], **options: Any
    ) -> KernelConnectionInfo:
        """Fork a kernel that takes the arguments in `cmd`, or run `cmd` itself.

        `options` are those of `Popen`, of which `cwd`, `env`, and the open files
        `stdout` and `stderr` have to be there.
        """
        files = options["stdout"].name, options["stderr"].name
        place = options["cwd"], options["env"], *files
        if self.warm:
            arguments = cmd[cmd.index("-f") :]
            self.process = self.server.start("kernel", arguments, *place)
        else:
            self.process = self.server.start("command", cmd, *place)
        self.pid = self.pgid = self.process.pid
        self.cwd = options["cwd"]
        return self.connection_info


def start_through(server: ForkServer, manager: AsyncKernelManager, warm: bool) -> None:
    """Let `server` start the kernel of `manager`: a `warm` one has imported JAX."""
    provisioner = Provisioner(
        kernel_id="page", kernel_spec=manager.kernel_spec, parent=manager
    )
    provisioner.server, provisioner.warm = server, warm
    manager.provisioner = provisioner
