"""Start a program in several processes on this machine, as `srun` does on a cluster.

Every process finds the variables of a Slurm job, so `jax.distributed.initialize()`
needs no arguments, here as there.  What a process writes is shown behind its number.
When one fails, all are ended; none outlives the launcher, however that ends, unless
`--no-abort` leaves their end to JAX.

Run it: `python launch.py 2 hello.py`, and `python launch.py --help`
"""

import argparse
import os
import queue
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from contextlib import suppress

SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
TIMED_OUT = 124  # as `timeout` exits
GRACE = 1.0  # seconds in which the report of a killed process may still come
LAUNCHING = __file__, "<frozen runpy>"


def environment(index, count, port, devices):
    """Return the variables of process `index` of `count`: those of a task of Slurm.

    devices: simulated ones in each process; with 0, JAX takes what it finds, of several
    GPUs the one with the number of the process.
    """
    slurm = {"JOB_ID": 1, "STEP_NODELIST": "localhost", "NTASKS": count}
    slurm |= {"PROCID": index, "LOCALID": index}
    found = {f"SLURM_{name}": str(value) for name, value in slurm.items()}
    found["JAX_COORDINATOR_ADDRESS"] = f"127.0.0.1:{port}"
    found["JAX_COORDINATOR_BIND_ADDRESS"] = f"127.0.0.1:{port}"  # not the network
    if devices:
        found |= {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": str(devices)}
    return os.environ | found


class Worker:
    """One process, in a group of its own, and the threads that listen to it."""

    def __init__(self, index, command, env, ended):
        self.index, self.ended = index, ended
        # stdin closes when the launcher is gone, which `inside` waits for.
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        pipes |= {"text": True, "errors": "replace", "start_new_session": True}
        self.process = subprocess.Popen([sys.executable, *command], env=env, **pipes)
        tasks = [
            threading.Thread(target=self.relay, args=(self.process.stdout, sys.stdout)),
            threading.Thread(target=self.relay, args=(self.process.stderr, sys.stderr)),
            threading.Thread(target=lambda: ended.put((self, self.process.wait()))),
        ]
        for task in tasks:
            task.daemon = True
            task.start()
        self.tasks = tasks

    def relay(self, pipe, out):
        """Show each line behind the number of the process."""
        try:
            for line in pipe:
                out.write(f"[{self.index}] {line.rstrip()}\n")
                out.flush()
        except OSError:  # nobody reads any more
            self.ended.put((self, -signal.SIGPIPE))

    def end(self):
        """End the process and all that it started, and show the last lines.

        JAX catches SIGTERM, as the notice of a preemption.
        """
        with suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for task in self.tasks:
            task.join(timeout=5)


def watch(ended, count, limit, abort):
    """Wait for `count` processes or a signal; return the status to exit with, and why.

    abort: at the first that fails, without waiting for the others.
    """
    deadline, found = time.monotonic() + limit, (0, "")
    for _ in range(count):
        try:
            worker, status = ended.get(timeout=max(0, deadline - time.monotonic()))
        except queue.Empty:
            return found if found[0] else (TIMED_OUT, f"the {limit:g} s are over")
        if worker is None:
            return 128 + status, signal.Signals(status).name
        worker.end()  # what it has left running
        if status > 0 and abort:
            worker, status = killed(ended) or (worker, status)
        if status and not found[0]:
            how = f"failed with exit status {status}"
            if status < 0:
                how = f"was ended by {signal.Signals(-status).name}"
            status = 128 - status if status < 0 else status
            found = status, f"process {worker.index} {how}"
        if found[0] and abort:
            break
    return found


def killed(ended):
    """Return the worker that a signal has ended, and its status, if one reports soon.

    When a process is killed the others fail because of it, and they may report first.
    """
    with suppress(queue.Empty):
        worker, status = report = ended.get(timeout=GRACE)
        if worker and status < 0:
            return report
        ended.put(report)
    return None


def launch(count, command, devices=0, limit=600, abort=True):
    """Run `command` in `count` processes; return the status to exit with."""
    ended, workers, held = queue.SimpleQueue(), [], socket.socket()
    for number in SIGNALS:  # one that comes while processes start waits for them
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, frame: ended.put((None, number)))
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("127.0.0.1", 0))  # keeps the port for the coordinator, who shares it
    run = [__file__, "--abort" if abort else "--patient", *command]
    for index in range(count):
        env = environment(index, count, held.getsockname()[1], devices)
        workers.append(Worker(index, run, env, ended))
    status, why = watch(ended, count, limit, abort)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    for worker in workers:
        worker.end()
    if why:
        print(f"launch: {why}; no process is left.", file=sys.stderr)
    return status


def inside(command, abort):
    """Run a program as `python` does, but show each line that it prints at once.

    What C++ prints is dropped, since Gloo tells about connections in the middle of
    lines; so is what programs print that this one starts.
    abort: leave at once when it fails; JAX would wait until all others leave, too.
    """
    threading.Thread(target=leave_with_the_launcher, daemon=True).start()
    sys.stdout = sys.__stdout__ = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    module = command[0] == "-m"
    sys.argv = command[module:]
    sys.path[0] = os.getcwd() if module else os.path.dirname(command[0])
    try:
        if module:
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(command[0], run_name="__main__")
    except SystemExit as leaving:
        if not leaving.code:
            raise
        status = leaving.code
        if not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except BaseException as error:
        trace = error.__traceback__
        while trace.tb_next and trace.tb_frame.f_code.co_filename in LAUNCHING:
            trace = trace.tb_next
        traceback.print_exception(error.with_traceback(trace))
        status = 1
    else:
        return
    if not abort:
        sys.exit(status)
    sys.stdout.flush()
    os._exit(status)


def leave_with_the_launcher():
    """Wait until the launcher is gone, and end this process and all that it started."""
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


def main():
    """Launch what the command line says, and exit as the first that failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("count", type=int, help="how many processes")
    add("command", nargs=argparse.REMAINDER, help="a program, or -m and a module")
    add("--devices", type=int, help="simulated ones a process (8 in all; 0: as found)")
    add("--limit", type=float, default=600, help="seconds (600)")
    add("--no-abort", action="store_true", help="let JAX see to the end of the others")
    if not sys.argv[1:]:
        return parser.print_help()
    given = parser.parse_args()
    if not given.command:
        parser.error("it launches a program: python launch.py 2 hello.py")
    devices = max(1, 8 // given.count) if given.devices is None else given.devices
    abort = not given.no_abort
    sys.exit(launch(given.count, given.command, devices, given.limit, abort))


if __name__ == "__main__":
    if sys.argv[1:2] in (["--abort"], ["--patient"]):
        inside(sys.argv[2:], sys.argv[1] == "--abort")
    else:
        main()
