"""A kernel starts warm: forked from a Python that has imported JAX once.

Starting Python, IPython and JAX costs more than most pages do.  Nothing but imports has
happened when a kernel is forked: no device has been touched, and the kernel gets a
namespace, a folder and an environment of its own.  Where there is no fork to rely on,
or a page speaks to the environment before it imports JAX, a kernel starts as usual.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from jupyter_client import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

# Requests come in as lines, one at a time; what goes out is the process id of a new
# kernel, as a number, or [process id, exit status] of one that has ended.
_SERVER = """
import json, os, select, signal, sys
import jax, jax.numpy
from ipykernel.kernelapp import IPKernelApp

wake, ring = os.pipe()
os.set_blocking(ring, False)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, lambda *_: None)
signal.set_wakeup_fd(ring)
sys.path[:] = [entry for entry in sys.path if entry]

def become_a_kernel(ask):
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.chdir(ask["cwd"])
    os.environ.clear()
    os.environ.update(ask["env"])
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # ends when it does
    sys.argv = ["ipykernel_launcher", parent, *ask["arguments"]]
    IPKernelApp.launch_instance()

def tell(what):
    print(json.dumps(what), flush=True)

while True:
    ready, _, _ = select.select([0, wake], [], [])
    if wake in ready:
        os.read(wake, 1024)
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not child:
                break
            tell([child, os.waitstatus_to_exitcode(status)])
    if 0 in ready:
        line = sys.stdin.readline()
        if not line:
            break
        child = os.fork()
        if child == 0:
            try:
                become_a_kernel(json.loads(line))
            finally:
                os._exit(0)
        tell(child)
"""


class Kernel:
    """A forked kernel, as far as Jupyter asks for what `Popen` has."""

    stdin = stdout = stderr = None

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


class Warm:
    """A Python in the environment `env` that forks kernels; close it after use."""

    def __init__(self, env: Mapping[str, str]):
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._asking = threading.Lock()
        self._changed = threading.Condition()
        self._kernels: dict[int, Kernel] = {}
        self._new: Kernel | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    @staticmethod
    def possible(cells: list[str]) -> bool:
        """Whether a page of these cells can run in a forked kernel."""
        forks = sys.platform == "linux"
        return forks and not any("os.environ" in cell for cell in cells)

    def _listen(self) -> None:
        for line in self._server.stdout:
            said = json.loads(line)
            with self._changed:
                if isinstance(said, int):
                    self._new = self._kernels[said] = Kernel(said)
                else:
                    self._kernels.pop(said[0]).ended(said[1])
                self._changed.notify_all()

    def fork(self, arguments: list[str], cwd: str, env: Mapping[str, str]) -> Kernel:
        """Start a kernel; raises RuntimeError when the Python behind it has ended."""
        ask = {"arguments": arguments, "cwd": str(cwd), "env": dict(env)}
        with self._asking, self._changed:
            self._new = None
            self._server.stdin.write(json.dumps(ask) + "\n")
            self._server.stdin.flush()
            while self._new is None:
                if self._server.poll() is not None:
                    raise RuntimeError("the Python that starts kernels has ended")
                self._changed.wait(timeout=0.5)
            return self._new

    def close(self) -> None:
        """End the Python, and with it every kernel that is left."""
        self._server.stdin.close()
        self._server.wait()


class Provisioner(LocalProvisioner):
    """Starts a manager's kernel by forking one, instead of a program."""

    warm: Warm

    async def launch_kernel(self, cmd, **kwargs):
        """Fork a kernel that takes the arguments of the launcher in `cmd`."""
        arguments = cmd[cmd.index("-f") :]
        self.process = self.warm.fork(arguments, kwargs["cwd"], kwargs["env"])
        self.pid = self.pgid = self.process.pid
        self.cwd = Path(kwargs["cwd"])
        return self.connection_info


def provision(manager: AsyncKernelManager, warm: Warm) -> None:
    """Let `manager` fork its kernel from `warm`."""
    manager.provisioner = Provisioner(
        kernel_id="page", kernel_spec=manager.kernel_spec, parent=manager
    )
    manager.provisioner.warm = warm
