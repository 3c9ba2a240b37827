"""Find out why `jit` compiles again: count the traces, and let JAX say what changed.

Why it is hard: `jit` keeps a program for each kind of call, and what makes a call of
another kind cannot be seen in its answer: it is only slow.
What finishes it: a counter in the body, which Python runs only while it is traced, and
JAX's own explanation of each miss, read from its log.

Run it: `python -m examples.jit.retracing`
"""

import json
import re
import subprocess
import sys
from unittest import TestCase

import jax
import jax.numpy as jnp
import numpy as np

from examples.tools.tracing import traces

# A program of its own, which keeps what it compiles in the folder that it is given.
PROGRAM = """
import json, sys, jax
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
events, traced = [], []
jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
jax.jit(lambda x: traced.append(x) or x + 1)(1.0)
found = events.count("/jax/compilation_cache/cache_hits")
print(json.dumps({"traced": len(traced), "found on disk": found}))
"""


def logged(setting, way):
    """Return what JAX logs, a text each, while `way` uses a fresh function.

    setting: `jax.explain_cache_misses` or `jax.log_compiles`.
    Raises AssertionError when it logs nothing.
    """
    with setting(True), TestCase().assertLogs("jax", "WARNING") as caught:
        way(lambda x, *args, **kwargs: x)
    return [record.getMessage() for record in caught.records]


def reason(way):
    """Return why the last trace of `way` was needed: the end of JAX's explanation."""
    text = logged(jax.explain_cache_misses, way)[-1]
    last = re.split(r"\n +(?:\* |but )", text)[-1]
    return " ".join(last.split("http")[0].split())


def new_process(folder):
    """Run `PROGRAM` in a new Python; return what it counts, `{name: number}`.

    folder: where compiled programs are kept between processes, a path.
    """
    command = [sys.executable, "-c", PROGRAM, folder]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def six(body):
    """Call one jitted function with three numbers and three arrays."""
    jitted = jax.jit(body)
    for x in (1, 1.0, np.float32(1), np.ones(3), np.ones(4), np.ones(3)):
        jitted(x)


def main():
    """Count the traces of six calls, and print why the fifth of them was traced.

    >>> main()
    six calls are traced 5 times
    a call of another shape: at x, now f32[4] and before f32[3]
    """
    print(f"six calls are traced {traces(six)} times")

    def two_shapes(body):
        jitted = jax.jit(body)
        jitted(jnp.ones(3))
        jitted(jnp.ones(4))

    print(f"a call of another shape: {reason(two_shapes)}")


if __name__ == "__main__":
    main()
