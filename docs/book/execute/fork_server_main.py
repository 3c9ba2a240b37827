r"""The fork server: a Python that has imported JAX forks a process for each request.

    python -P fork_server_main.py SOCKET

`fork_server.ForkServer` starts it and holds the other end of the Unix socket whose file
descriptor is SOCKET.  Each request comes with a socket of its own:

    build                           this server                 the process
      │ one byte and a socket  ───────►│
      │                                │ fork ───────────────────► │
      │ the request, as JSON  ───────────────────────────────────► │ runs it
      │◄───────  "process id\n"        │                           │
      │                                │ ◄──────────────────  ends ┘
      │                                │ kills what it left running
      │◄───────  "exit status\n"       │

A request has these keys:

    kind            "kernel": an IPython kernel that takes `arguments`
                    "program": the file `arguments[0]`, run as `python FILE` runs it
                    "command": `arguments` as a program of its own, nothing inherited
    cwd, env        its folder and its environment (a program keeps the server's)
    stdout, stderr  the files to write to
    limit           seconds after which SIGALRM ends it; 0 is never

An exit status is negative when a signal ended the process.  Each process leads a
session of its own.  What it leaves running ends with it, whatever session that is in;
and everything ends when the build does, however that ends.

Why this is not the fork server of `multiprocessing`: that one is a single server for
all of a build, with the build's environment, while two kinds of hardware need two
(PYTHONHASHSEED, JAX_PLATFORMS and a `sitecustomize` are read as Python starts); nothing
public ends it; it does not kill what a process has left running; when the build is
killed, it lives on for as long as a process does; and each process imports the build's
main module again, which is Sphinx and takes longer than the fork.

This file imports nothing of the book: a program must not find it.
"""

import contextlib
import ctypes
import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import traceback
import warnings
from types import TracebackType
from typing import Any, NoReturn

import jax
import jax.numpy
from jax._src import compilation_cache

with contextlib.suppress(ImportError):  # each process would, as it first compiles
    import jaxlib.mlir.dialects.mhlo  # noqa: F401
# ipykernel imports debugpy, which takes long, to find out whether it is installed.
sys.modules["debugpy"] = None  # type: ignore[assignment]
import ipykernel.debugger  # noqa: E402, F401
from ipykernel.kernelapp import IPKernelApp  # noqa: E402

del sys.modules["debugpy"]
ONLY_KEEPS = "BOOK_ONLY_KEEPS_COMPILED"  # a folder; see xla_cache
# Options of prctl(2).
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def prctl(option: int, value: int) -> None:
    """Set what Linux does with this process, or with its children."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def serve(requests: socket.socket) -> None:
    """Answer requests until the build closes its end of the socket, or ends."""
    running: dict[int, tuple[int, socket.socket]] = {}  # by pidfd: process id, answers
    while True:
        ready, _, _ = select.select([requests.fileno(), *running], [], [])
        for pidfd in set(ready) & running.keys():
            pid, answers = running.pop(pidfd)
            _, status = os.waitpid(pid, 0)
            os.close(pidfd)
            kill_children_except({pid for pid, _ in running.values()})
            answer(answers, os.waitstatus_to_exitcode(status))
            answers.close()
        if requests.fileno() in ready:
            _, received, _, _ = socket.recv_fds(requests, 1, 1)
            if not received:
                return
            answers = socket.socket(fileno=received[0])
            server, pid = os.getpid(), os.fork()
            if pid == 0:
                requests.close()
                for _, of_another in running.values():
                    of_another.close()
                run_request(answers, server)
            running[os.pidfd_open(pid)] = pid, answers
            answer(answers, pid)


def answer(answers: socket.socket, number: int) -> None:
    """Send a line with a number, unless nobody listens."""
    with contextlib.suppress(OSError):
        answers.sendall(b"%d\n" % number)


def children() -> set[int]:
    """The process ids of this process's children, adopted ones included."""
    path = f"/proc/self/task/{os.getpid()}/children"  # psutil looks at every process
    with open(path, encoding="ascii") as file:
        return {int(pid) for pid in file.read().split()}


def kill_children_except(running: set[int]) -> None:
    """Kill this process's children, but for those `running`.

    What a killed one had started becomes a child of this process, and is killed too.
    """
    while orphans := children() - running:
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in orphans:
            os.waitpid(pid, 0)


def run_request(request: socket.socket, server: int) -> NoReturn:
    """Read the request in this process, a child of `server`, and run it to its end."""
    try:
        with request, request.makefile(encoding="utf-8") as text:
            asked = json.load(text)
        set_up_process(asked, server)
        if asked["kind"] == "command":
            os.execve(asked["arguments"][0], asked["arguments"], asked["env"])
        elif asked["kind"] == "program":
            run_program(asked["arguments"][0])
        else:
            run_kernel(asked["arguments"], asked["env"])
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def set_up_process(asked: dict[str, Any], server: int) -> None:
    """Give this process a session, files, a folder and a limit of its own."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    os.setsid()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:  # the server died before the line above
        os._exit(1)
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # it keeps its own orphans for as long as it lives
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(asked["stdout"], flags), 1)
    if asked["stderr"] == asked["stdout"]:
        os.dup2(1, 2)
    else:
        os.dup2(os.open(asked["stderr"], flags), 2)
    os.chdir(asked["cwd"])
    signal.alarm(asked["limit"])


def run_kernel(arguments: list[str], env: dict[str, str]) -> NoReturn:
    """Run an IPython kernel in the environment `env`."""
    os.environ.clear()
    os.environ.update(env)
    # JAX read the server's environment when it was imported.
    for name, value in env.items():
        if name in ("JAX_COMPILATION_CACHE_DIR", ONLY_KEEPS):
            jax.config.update("jax_compilation_cache_dir", value)
        elif name.startswith("JAX_PERSISTENT_CACHE_"):
            jax.config.update(name.lower(), int(value))
    keep_only_silent_programs(reads=ONLY_KEEPS not in env)
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"
    sys.argv = ["ipykernel_launcher", parent, *arguments]
    IPKernelApp.launch_instance()
    os._exit(0)


def keep_only_silent_programs(*, reads: bool = True) -> None:
    """Let JAX keep a compiled program only if the compiler wrote nothing to stderr.

    Where it is read again, the compiler would not write that again.  Unless this
    process `reads`, it compiles also what another one has kept.

    JAX has no settings for this, so two functions of its own are replaced.  An error in
    their place would be a warning of JAX, and a cell that records warnings would see
    it.
    """
    # What a killed build has left half written is compiled again.
    warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation")
    keep, written = compilation_cache.put_executable_and_time, os.fstat(2).st_size

    def keep_if_silent(*arguments: Any) -> None:
        nonlocal written
        before, written = written, os.fstat(2).st_size
        if written == before:
            keep(*arguments)

    def find_nothing(*_arguments: Any) -> tuple[None, None]:
        return None, None

    compilation_cache.put_executable_and_time = keep_if_silent
    if not reads:
        compilation_cache.get_executable_and_time = find_nothing


def run_program(path: str) -> NoReturn:
    """Run the file at `path` as a program, and exit as it does."""
    keep_only_silent_programs()
    sys.argv, code = [path], 0
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as leaving:
        if isinstance(leaving.code, int):
            code = leaving.code
        elif leaving.code is not None:
            print(leaving.code, file=sys.stderr)
            code = 1
    except BaseException as error:
        trace = since_file(path, error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def since_file(path: str, trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback from the file at `path` on; all of it where none is."""
    found = trace
    while found and found.tb_frame.f_code.co_filename != path:
        found = found.tb_next
    return found or trace


if __name__ == "__main__":
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    gc.freeze()  # what has been imported is shared with every process
    try:
        with socket.socket(fileno=int(sys.argv[1])) as asking:
            serve(asking)
    finally:
        with contextlib.suppress(ChildProcessError):  # there is none left
            while True:
                kill_children_except(set())
                os.waitpid(-1, os.WNOHANG)
