"""A Python that has imported JAX, and nothing else, forks what it is asked for.

    python -P forkserver.py

A request is a line of JSON on stdin, with these keys:

    id         a number that comes back in the answer
    kind       "kernel": an IPython kernel that takes `arguments`
               "program": the file `arguments[0]`, run as `python FILE` runs it
               "command": `arguments` as a program of its own, nothing inherited
    cwd, env   its folder and its environment (a program keeps the server's)
    log        files for its stdout and stderr; None: nowhere, and the server's stderr
    limit      seconds after which SIGALRM ends it; 0 is never

An answer is a line of JSON on stdout: [id, process id] when it has started, and
[process id, exit status] when it has ended.

Each process leads a session of its own.  On Linux, what a process leaves running when
it ends is killed, whatever session that is in; and so is everything when stdin closes.
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
import sys
import warnings

import jax
import jax.numpy

with contextlib.suppress(ImportError):  # each process would, as it first compiles
    import jaxlib.mlir.dialects.mhlo  # noqa: F401
sys.modules["debugpy"] = None  # nobody debugs a page, and its import takes long
import ipykernel.debugger  # noqa: E402, F401
from ipykernel.kernelapp import IPKernelApp  # noqa: E402

del sys.modules["debugpy"]
LINUX = sys.platform == "linux"
DEATH_SIGNAL, SUBREAPER = 1, 36  # prctl(2)
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def prctl(option, value):
    """Set what Linux does with this process, or with its children."""
    if LINUX:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def become(ask, parent):
    """Be what was asked for by the server, process `parent`; never returns."""
    signal.set_wakeup_fd(-1)
    for number in (*IGNORED, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    prctl(DEATH_SIGNAL, signal.SIGKILL)
    os.getppid() == parent or os._exit(1)  # the server died before the line above
    prctl(SUBREAPER, 1)  # it keeps its own orphans for as long as it lives
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    if ask["log"]:
        out, err = ask["log"]
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(out, flags), 1)
        os.dup2(1 if err == out else os.open(err, flags), 2)
    os.chdir(ask["cwd"])
    signal.alarm(ask["limit"])
    if ask["kind"] == "command":
        os.execve(ask["arguments"][0], ask["arguments"], ask["env"])
    if ask["kind"] == "program":
        program(ask["arguments"][0])
    surround(ask["env"])
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # ends when it does
    sys.argv = ["ipykernel_launcher", parent, *ask["arguments"]]
    IPKernelApp.launch_instance()
    os._exit(0)


def surround(env):
    """Take over `env`, and tell JAX, already there, where to keep what it compiles."""
    os.environ.clear()
    os.environ.update(env)
    for name, value in env.items():
        if name.startswith(("JAX_COMPILATION_CACHE_", "JAX_PERSISTENT_CACHE_")):
            jax.config.update(name.lower(), value if "/" in value else int(value))
    # What a killed build has left half written is compiled again.
    warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation")


def program(path):
    """Run the file at `path` as a program, and exit as it does."""
    sys.argv, code = [path], 0
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as leaving:
        code = leaving.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException as error:
        whole = trace = error.__traceback__
        while trace and trace.tb_frame.f_code.co_filename != path:
            trace = trace.tb_next
        trace = trace or whole
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def children():
    """Yield the process ids of this process's children, adopted ones included."""
    for name in filter(str.isdigit, os.listdir("/proc") if LINUX else ()):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            with open(f"/proc/{name}/stat") as file:
                parent = file.read().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                yield int(name)


def kill(pids):
    """Kill processes, some of which may have ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def bury(mine):
    """Wait for what has ended: yield those of `mine`; what they left is killed."""
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not child:
            break
        if child in mine:
            mine.remove(child)
            yield [child, os.waitstatus_to_exitcode(status)]
    kill(set(children()) - mine)


def serve():
    """Answer requests until stdin closes."""
    wake, ring = os.pipe()
    os.set_blocking(ring, False)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ring)
    mine, asked = set(), b""
    while True:
        ready, _, _ = select.select([0, wake], [], [])
        if wake in ready:
            os.read(wake, 1024)
            for ended in bury(mine):
                tell(ended)
        if 0 in ready:
            more = os.read(0, 65536)
            if not more:
                return mine
            *lines, asked = (asked + more).split(b"\n")
            for line in lines:
                ask = json.loads(line)
                server, child = os.getpid(), os.fork()
                if child == 0:
                    try:
                        become(ask, server)
                    finally:
                        os._exit(1)
                mine.add(child)
                tell([ask["id"], child])


def tell(what):
    """Answer with a line."""
    os.write(1, json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    prctl(SUBREAPER, 1)
    left = set()
    gc.freeze()  # what has been imported is shared with every child
    try:
        left = serve()
    except BrokenPipeError:
        pass
    finally:
        with contextlib.suppress(ChildProcessError):
            while True:
                kill({*left, *children()})
                left.discard(os.waitpid(-1, 0)[0])
