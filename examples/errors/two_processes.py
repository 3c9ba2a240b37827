"""Run a function in two processes that hold four devices each, and tell what it said.

When to use it: for what differs between one process and several, on one machine.

Run it: `python -m examples.errors.two_processes`
"""

import inspect
import json
import socket
import subprocess
import sys

PRELUDE = """
import json
import sys
import jax
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 4)
jax.distributed.initialize(sys.argv[1], 2, int(sys.argv[2]))
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.experimental import multihost_utils
jax.set_mesh(jax.make_mesh((8,), ("data",)))
"""
CALL = """
try:
    text = str({name}())
except Exception as error:
    text = f"{{type(error).__name__}}: {{error}}"
sys.stdout.write("\\n@@" + json.dumps(text) + "\\n")  # one write: Gloo writes, too
sys.stdout.flush()
"""


def said(*functions, seconds=600):
    """Return what each of `functions` returned or raised, in the first process.

    They are called in order, in both processes, on a mesh of eight devices.
    """
    source = PRELUDE
    for function in functions:
        source += inspect.getsource(function) + CALL.format(name=function.__name__)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    command = [sys.executable, "-c", source, address]
    started = [
        subprocess.Popen(
            [*command, str(index)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for index in range(2)
    ]
    try:
        out, _ = started[0].communicate(timeout=seconds)
    finally:
        for process in started:
            process.kill()
            process.communicate()
    lines = [line for line in out.splitlines() if line.startswith("@@")]
    return [json.loads(line[2:]) for line in lines]


def count():
    """Return the devices of all processes and of this one."""
    import jax

    return jax.device_count(), jax.local_device_count()


def main():
    """Count the devices of both processes.

    >>> main()
    ['(8, 4)']
    """
    print(said(count))


if __name__ == "__main__":
    main()
