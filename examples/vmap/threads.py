"""Count the processes and threads behind a map, and find out who decides on them.

Why it is hard: the answer looks the same however many worked on it, and the threads of
the compiler are not Python's, so that Python's own count misses them.
What finishes it: ask the operating system before and after a call, compare processor
time with elapsed time, read the compiled program, and change one setting at a time, in
a fresh process, because the settings are read once.

It reads /proc, so the counts need Linux.
Run it: `python -m examples.vmap.threads`
"""

import inspect
import json
import os
import re
import subprocess
import sys
import time
import warnings
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

ROWS = P("rows")
TASKS = Path("/proc/self/task")  # an entry for each thread of this process


class Started(NamedTuple):
    """What a call added: processes, and threads of this process, Python's or not."""

    processes: int
    threads: int


def unfinished(state):
    """Whether the loop of `scramble` goes on."""
    return state[1] < 10_000


def step(state):
    """Return the next numbers of a linear congruential generator, and the count."""
    numbers, count = state
    return numbers * jnp.uint32(1664525) + jnp.uint32(1013904223), count + 1


def scramble(row):
    """Return a row after ten thousand steps, one after another: uint32 (n,) to (n,)."""
    return lax.while_loop(unfinished, step, (row, 0))[0]


def by_loop(rows):
    """Return `scramble` of each row, one call for each: (m, n) to (m, n)."""
    return jnp.stack([scramble(row) for row in rows])


def by_map(rows):
    """Return the same by `lax.map`, a loop inside the compiled program."""
    return lax.map(scramble, rows)


def on_each(mesh):
    """Return `scramble` mapped by vmap, in a loop for each device of `mesh`."""
    mapped = jax.vmap(scramble)
    return jax.jit(jax.shard_map(mapped, mesh=mesh, in_specs=ROWS, out_specs=ROWS))


def whole(rows=16, columns=1024):
    """Return whole numbers, uint32 (rows, columns)."""
    return np.arange(rows * columns, dtype=np.uint32).reshape(rows, columns)


def threads():
    """Return the ids of all threads of this process.

    Raises OSError where there is no /proc, which is everywhere but on Linux.
    """
    if not TASKS.is_dir():
        raise OSError("threads that are not Python's are counted in /proc, on Linux")
    return {path.name for path in TASKS.iterdir()}


def started(call):
    """Call once off the record, then again, and return what the second one `Started`.

    Workers of `multiprocessing` count while they live.
    """
    jax.block_until_ready(call())
    before, workers = threads(), set(active_children())
    jax.block_until_ready(call())
    return Started(len(set(active_children()) - workers), len(threads() - before))


def busy(call, calls=10):
    """Return how many cores `call` keeps busy: processor time over elapsed time."""
    jax.block_until_ready(call())
    wall, used = time.perf_counter(), time.process_time()
    for _ in range(calls):
        jax.block_until_ready(call())
    return (time.process_time() - used) / (time.perf_counter() - wall)


def pieces(fn, *args):
    """Return into how many pieces the compiled program cuts the operations it divides.

    XLA's compiler for CPUs writes it down for loops it emits; libraries it calls, for
    matrix products say, decide when they run.
    """
    hlo = jax.jit(fn).lower(*args).compile().as_text()
    cuts = re.findall(r'outer_dimension_partitions":\[([^]]*)\]', hlo)
    return [int(np.prod([int(n) for n in re.findall(r"\d+", cut)])) for cut in cuts]


def waves(x):
    """Return some arithmetic on one number, nothing of it in a loop."""
    return jnp.sin(x) * jnp.cos(x) + jnp.tanh(x)


def in_pool(rows, workers=2):
    """Return `scramble` of each row by new processes, and their ids."""
    with get_context("spawn").Pool(workers) as pool:
        ids = {process.pid for process in active_children()}
        return np.stack(pool.map(scramble, list(rows))), ids


def fork_warnings():
    """Fork a process that does nothing, once JAX runs, and return what is said."""
    jax.devices()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", RuntimeWarning)
        child = get_context("fork").Process(target=os.getpid)
        child.start()
        child.join()
    return [str(one.message) for one in said if one.category is RuntimeWarning]


def report(cores):
    """Print the threads in XLA's pool and the cores that one vmap keeps busy, as JSON.

    It runs as the whole of another process, so it brings its imports along.
    """
    import json
    import os
    import time
    from pathlib import Path

    if cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    import jax

    call = jax.jit(jax.vmap(lambda x: jax.numpy.sin(x) * jax.numpy.cos(x)))
    x = jax.numpy.ones(1 << 21)
    call(x).block_until_ready()
    wall, used = time.perf_counter(), time.process_time()
    for _ in range(10):
        call(x).block_until_ready()
    busy = (time.process_time() - used) / (time.perf_counter() - wall)
    names = [p.read_text() for p in Path("/proc/self/task").glob("*/comm")]
    print(json.dumps([sum("XLAEigen" in name for name in names), round(busy, 1)]))


def elsewhere(settings=(), cores=0):
    """Run `report` in a new process with environment variables set; return its pair.

    settings: pairs of a variable and its value. cores: how many it may use; 0 is all.
    The process has one CPU device unless the settings say otherwise.
    """
    code = f"{inspect.getsource(report)}\nreport({cores})"
    sizes = "NPROC", "PJRT_NPROC", "XLA_FLAGS"  # the pool's, as Python was started
    kept = {name: v for name, v in os.environ.items() if name not in sizes}
    one = {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "1"}
    command = [sys.executable, "-c", code]
    environment = {**kept, **one, **dict(settings)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def lower(mesh):
    """Lower the loop that each device runs, for a mesh of any size, two rows each."""
    split = NamedSharding(mesh, ROWS)
    rows = jax.ShapeDtypeStruct((2 * mesh.size, 1024), jnp.uint32, sharding=split)
    return on_each(mesh).lower(rows)


def main():
    """Map in this process and in others, and count.

    >>> main()
    the loop, lax.map, vmap and two processes agree: True
    vmap starts Started(processes=0, threads=0)
    the pool starts 2 processes
    a batch of a million is cut, one of sixteen is not: True
    """
    [cpu, *_] = jax.devices("cpu")
    rows = jax.device_put(whole(), cpu)
    vmap = jax.jit(jax.vmap(scramble))
    pooled, ids = in_pool(whole())
    answers = [by_map(rows), vmap(rows), pooled]
    agree = all(np.array_equal(by_loop(rows), answer) for answer in answers)
    assert agree
    print(f"the loop, lax.map, vmap and two processes agree: {agree}")
    print(f"vmap starts {started(lambda: vmap(rows))}")
    print(f"the pool starts {len(ids)} processes")
    many, few = (jax.device_put(np.ones(n, np.float32), cpu) for n in (1 << 20, 16))
    alone = len(os.sched_getaffinity(0)) == 1
    cut = [bool(pieces(jax.vmap(waves), x)) for x in (many, few)] == [not alone, False]
    assert cut
    print(f"a batch of a million is cut, one of sixteen is not: {cut}")


if __name__ == "__main__":
    main()
