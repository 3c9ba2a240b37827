"""Fail in two processes, each time in another way, and let JAX end them.

Run it: `python launch.py --no-abort 2 failing.py killed`
"""

import faulthandler
import os
import queue
import signal
import socket
import subprocess
import sys
import time
import zlib

import jax
import numpy as np
from jax import P, lax
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh


def join(**options):
    """Join the other process; return a loss (8,) for each device of the global mesh."""
    jax.distributed.initialize(**options)
    jax.set_mesh(Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,)))
    return jax.device_put(np.arange(8, dtype=np.float32), P("data"))


def killed(victim=1):
    """Let one process be killed in the middle of a step, as when memory runs out."""
    losses = join(heartbeat_timeout_seconds=5)

    def between(mean, step):  # runs between the two collectives
        if int(step) == 2 and jax.process_index() == victim:
            os.kill(os.getpid(), signal.SIGKILL)
        return mean

    @jax.jit
    @jax.shard_map(in_specs=(P("data"), P()), out_specs=P())
    def variance(losses, step):
        mean = lax.pmean(losses.mean(), "data")
        mean = jax.pure_callback(between, mean, mean, step)
        return lax.pmean(((losses - mean) ** 2).mean(), "data")

    for step in range(4):
        print("step", step, "variance", float(variance(losses, step)))


def coordinator():
    """Let process 0, which is the coordinator, be killed."""
    killed(victim=0)


def frozen():
    """Let one process stand still, as when its machine is suspended, and end later."""
    jax.distributed.initialize(heartbeat_timeout_seconds=5)
    if jax.process_index() == 1:
        end = f"sleep 9; kill -KILL {os.getpid()}"
        subprocess.Popen(["sh", "-c", end])
        os.kill(os.getpid(), signal.SIGSTOP)


def raises():
    """Let one process raise, while the other goes on."""
    losses = join(shutdown_timeout_seconds=3)
    for step in range(4):
        if step == 2 and jax.process_index() == 1:
            raise ValueError("the loss is nan")
        print("step", step, "mean", float(losses.mean()))


def never():
    """Let one process end before it has joined."""
    if os.environ["SLURM_PROCID"] == "1":
        return
    join(initialization_timeout=2)


def count():
    """Announce one process more than there are."""
    join(num_processes=3, initialization_timeout=2)


def same():
    """Give both processes the same number."""
    join(process_id=0, initialization_timeout=2)


def taken():
    """Let another program have the port of the coordinator."""
    with socket.socket() as other:
        other.bind(("localhost", 0))
        other.listen()
        jax.distributed.initialize(f"localhost:{other.getsockname()[1]}", 1, 0)


def different():
    """Let the processes ask for different things."""
    losses = join()
    if jax.process_index() == 0:
        print("largest", losses.max())
    else:
        print("mean", losses.mean())


def alone():
    """Let one process compute what all would have to compute."""
    losses = join(shutdown_timeout_seconds=3)
    if jax.process_index() == 0:
        print("mean", float(losses.mean()))
    print("largest", float(losses.max()))


def compared():
    """Compare the steps of all processes before the first of them runs."""
    losses = join()
    step = jax.jit(lambda x: x.max() if jax.process_index() == 0 else x.mean())

    text = step.lower(losses).as_text()
    digest = np.uint32(zlib.crc32(text.encode()))
    multihost_utils.assert_equal(digest, "the processes have different steps")
    print(step(losses))


def unequal():
    """Join a part of four rows and one of eight; JAX says nothing."""
    jax.distributed.initialize()
    mesh = Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,))
    sharding = jax.NamedSharding(mesh, P("data"))
    count = 4 if jax.process_index() == 0 else 8
    rows = np.ones((count, 2), np.float32)
    batch = jax.make_array_from_process_local_data(sharding, rows)
    print("a batch of", batch.shape, "and its mean", batch.mean())


def hangs():
    """Let one process wait for a batch, and the other for that process."""
    losses, batches = join(), queue.Queue()
    for step in range(4):
        faulthandler.dump_traceback_later(8)  # at work: longer than any step
        if step == 2 and jax.process_index() == 1:
            batches.get(timeout=12)
        print("step", step, "mean", float(losses.mean()))


def logged():
    """Log each program at its first call, with a fingerprint of what it compiles to."""
    jax.config.update("jax_distributed_debug", True)
    different()


def fewer():
    """Let one process take a step more than the other."""
    losses = join(shutdown_timeout_seconds=3)
    for step in range(3 if jax.process_index() == 0 else 2):
        print("step", step, "mean", float(losses.mean()))


def slow():
    """Let one process need longer for its batches, and find out which."""
    losses, own = join(), 0.0
    for _ in range(4):
        began = time.monotonic()
        time.sleep(0.5 if jax.process_index() == 1 else 0.1)  # reads its batch
        own += time.monotonic() - began  # without the wait in the step
        losses.mean().block_until_ready()
    seconds = multihost_utils.process_allgather(np.float32(own))
    if jax.process_index() == 0:
        print("seconds of work on each host", seconds.round(1))
        print("process", seconds.argmax(), "is the slowest")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
