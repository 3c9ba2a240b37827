"""Find out how many threads XLA has, and which operations it divides over them.

XLA's threads are not Python's, and their number is settled when JAX starts. So the
settings are tried in processes of their own, which have imported JAX and not started
it, and the compiled program says what it divides.

It reads /proc, so the counts need Linux.
Run it: `python -m examples.vmap.threads`
"""

import inspect
import json
import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def swing(angle):
    """Return the angle of a pendulum after ten thousand small steps: () to ()."""

    def step(_, state):
        angle, speed = state
        speed = speed - 0.001 * jnp.sin(angle)
        return angle + 0.001 * speed, speed

    return lax.fori_loop(0, 10_000, step, (angle, jnp.zeros_like(angle)))[0]


def pieces(fn, *args):
    """Return into how many parts the compiled program divides each of its operations.

    XLA's compiler for CPUs writes it down for loops it emits; libraries it calls, for
    matrix products say, decide when they run.
    """
    hlo = jax.jit(fn).lower(*args).compile().as_text()
    cuts = re.findall(r'outer_dimension_partitions":\[([^]]+)\]', hlo)
    return [int(np.prod([int(n) for n in re.findall(r"\d+", cut)])) for cut in cuts]


def report(settings):
    """Print, as JSON, threads of XLA's pool and of these those that do a product.

    It runs as the whole of another Python, so it brings its imports along; each of the
    settings, `{name: {"variables": {}, "cores": 0, "devices": 1}}`, gets a fork of it.
    """
    import json
    import os
    from pathlib import Path

    import jax

    def worked():
        files = Path("/proc/self/task").glob("*/schedstat")
        return {file: int(file.read_text().split()[0]) for file in files}

    def count(variables=(), cores=0, devices=1):
        os.environ.update(variables)
        if cores:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
        jax.config.update("jax_num_cpu_devices", devices)
        a = jax.numpy.ones((1000, 1000))
        (a @ a).block_until_ready()
        before = worked()
        (a @ a).block_until_ready()
        times = [time - before.get(file, 0) for file, time in worked().items()]
        names = [file.read_text() for file in Path("/proc/self/task").glob("*/comm")]
        pool = sum("XLAEigen" in name for name in names)
        return pool, sum(time > max(times) / 10 for time in times)

    for name, setting in settings.items():
        if not os.fork():  # JAX has not started: nothing runs that a fork could miss
            print(json.dumps([name, count(**setting)]), flush=True)
            os._exit(0)
        os.wait()


def pools(settings):
    """Return `{name: (threads of the pool, threads that did a product)}`, by `report`.

    The processes have one CPU device unless the settings say otherwise.
    """
    sizes = "NPROC", "PJRT_NPROC", "XLA_FLAGS", "JAX_NUM_CPU_DEVICES"
    kept = {name: v for name, v in os.environ.items() if name not in sizes}
    code = f"{inspect.getsource(report)}\nreport({settings!r})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | {"JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        check=True,
    )
    return dict(json.loads(line) for line in done.stdout.splitlines())


def main():
    """Print what is divided, and the size of the pool for one core.

    >>> main()
    a loop of small steps is divided: False
    threads for one core: 1
    """
    angles = jnp.linspace(0.1, 3.0, 512)
    print(f"a loop of small steps is divided: {bool(pieces(jax.vmap(swing), angles))}")
    print(f"threads for one core: {pools({'one': {'cores': 1}})['one'][0]}")


if __name__ == "__main__":
    main()
