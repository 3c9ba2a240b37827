"""Run a program that may hang in a process of its own, and tell how it ended.

Why it is hard: a program that waits for ever would stop whoever runs it, and its only
message comes from a thread of XLA, after twenty seconds.
What finishes it: another process, with limits of one and two seconds. XLA's CPU client
warns after the first and ends the process after the second.

Run it: `python -m examples.shard_map.hangs`
"""

import os
import re
import subprocess
import sys

LIMITS = (
    "--xla_cpu_collective_call_warn_stuck_timeout_seconds=1 "
    "--xla_cpu_collective_call_terminate_timeout_seconds=2"
)
PRELUDE = """
import jax
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 8)
import jax.numpy as jnp
import numpy as np
from jax import P, lax
jax.set_mesh(jax.make_mesh((8,), ("data",)))
x = grads = jax.device_put(jnp.arange(8.0), P("data"))
"""
UNEQUAL = """
@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def wait(x):
    return lax.cond(x[0] > 3, lambda x: x - lax.pmean(x, "data"), lambda x: x, x)
"""


def start(source, call):
    """Start `source` and then `call`, which `print`s, on eight devices; do not wait."""
    old = os.environ.get("XLA_FLAGS", "")
    return subprocess.Popen(
        [sys.executable, "-c", f"{PRELUDE}\n{source}\nprint({call})"],
        env=os.environ | {"XLA_FLAGS": f"{old} {LIMITS}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ending(program, seconds=120):
    """Wait for a program that was started; return its exit status and what it said.

    A status below zero is a signal's. Of equal messages one is returned, without time,
    thread and the numbers of the devices.
    """
    try:
        out, err = program.communicate(timeout=seconds)
    finally:
        program.kill()
    found = re.findall(r"\] (?:\[id=\d+\] )?((?:This thread|Termination).*)", err)
    short = [re.sub(r" RendezvousKey\{.*\}`", " …`", line) for line in found]
    return program.returncode, "\n".join(dict.fromkeys(short)) or out.strip()


def main():
    """Run a program in which half of the devices wait for the others.

    >>> main()
    ended by a signal: True
    Expected 8 threads to join the rendezvous, but only 4 of them arrived on time.
    """
    status, said = ending(start(UNEQUAL, "wait(x)"))
    print(f"ended by a signal: {status < 0}")
    print(said[said.rindex("Expected") :])


if __name__ == "__main__":
    main()
