"""A kernel or a program starts warm: forked from a Python that has imported JAX once.

Starting Python, IPython and JAX costs more than most pages do.  Nothing but imports has
happened when a process is forked: no device has been touched, and it gets a folder, an
environment and a session of its own (`forkserver`).
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from jupyter_client import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

FORKS = hasattr(os, "fork")
KERNELS = sys.platform == "linux"  # where a kernel may be forked
_SERVER = Path(__file__).with_name("fork_server.py")


class ServerEnded(Exception):
    """The Python that forks has ended; another one may do better."""


class Child:
    """A process that was forked, as far as Jupyter asks for what `Popen` has."""

    stdin = stdout = stderr = None
    lost = False  # whether it went down with the Python that forked it

    def __init__(self, pid: int):
        self.pid = pid
        self.returncode: int | None = None
        self._ended = threading.Event()

    def ended(self, code: int) -> None:
        """Take note of the exit status; negative is a signal."""
        self.returncode = code
        self._ended.set()

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end, and return the exit status."""
        self._ended.wait(timeout)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(9)


class ForkServer:
    """A Python in the environment `env` that forks; close it after use."""

    def __init__(self, env: Mapping[str, str]):
        self._python = subprocess.Popen(
            [sys.executable, "-u", "-P", str(_SERVER)],
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.pid = self._python.pid
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._started: dict[int, Child] = {}
        self._running: dict[int, Child] = {}
        self._gone = False
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def _listen(self) -> None:
        for line in self._python.stdout:
            first, second = json.loads(line)
            with self._changed:
                if first < 0:
                    self._started[first] = self._running[second] = Child(second)
                else:
                    self._running.pop(first).ended(second)
                self._changed.notify_all()
        with self._changed:
            self._gone = True
            for child in self._running.values():
                child.lost = True
                child.ended(-9)
            self._changed.notify_all()

    def start(
        self,
        kind: str,
        arguments: list[str],
        cwd: Path | str,
        env: Mapping[str, str],
        log: tuple[Path, Path] | None = None,
        limit: int = 0,
    ) -> Child:
        """Start a process, as `forkserver` has it; raises `ServerEnded`."""
        number = -1 - next(self._numbers)  # no process id
        ask = {
            "id": number,
            "kind": kind,
            "arguments": [str(argument) for argument in arguments],
            "cwd": str(cwd),
            "env": dict(env),
            "log": log and [str(path) for path in log],
            "limit": limit,
        }
        with self._changed:
            try:
                self._python.stdin.write(json.dumps(ask).encode() + b"\n")
                self._python.stdin.flush()
            except OSError:
                raise ServerEnded from None
            self._changed.wait_for(lambda: self._gone or number in self._started)
            if number not in self._started:
                raise ServerEnded
            return self._started.pop(number)

    def close(self) -> None:
        """End the Python, and with it everything it forked that is left."""
        with suppress(OSError):  # it has ended
            self._python.stdin.close()
        self._python.wait()
        self._listening.join()
        self._python.stdout.close()


class Provisioner(LocalProvisioner):
    """Starts a manager's kernel through a `ForkServer`."""

    server: ForkServer
    warm: bool

    async def launch_kernel(self, cmd, **kwargs):
        """Fork a kernel that takes the arguments in `cmd`, or run `cmd` itself."""
        kind = "kernel" if self.warm else "command"
        arguments = cmd[cmd.index("-f") :] if self.warm else cmd
        self.process = self.server.start(kind, arguments, kwargs["cwd"], kwargs["env"])
        self.pid = self.pgid = self.process.pid
        self.cwd = Path(kwargs["cwd"])
        return self.connection_info


def provision(manager: AsyncKernelManager, server: ForkServer, warm: bool) -> None:
    """Let `server` start the kernel of `manager`: a `warm` one has imported JAX."""
    manager.provisioner = Provisioner(
        kernel_id="page", kernel_spec=manager.kernel_spec, parent=manager
    )
    manager.provisioner.server, manager.provisioner.warm = server, warm
