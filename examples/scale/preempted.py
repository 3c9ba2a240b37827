"""Run a program that trains, and preempt process 1: it gets SIGTERM at step 3.

Run it: `python launch.py 2 preempted.py checkpoint.py run --join`
"""

import os
import runpy
import signal
import sys
import time

import jax
import orbax.checkpoint as ocp

AT = 3
whole = ocp.CheckpointManager.save


def save(manager, step, **options):
    """Save a step; tell process 1 at step 3 that its machine will be taken away."""
    if step == AT and jax.process_index() == 1:
        os.kill(os.getpid(), signal.SIGTERM)
    if step >= AT:
        time.sleep(0.5)  # steps of a real model take as long
    return whole(manager, step, **options)


if __name__ == "__main__":
    ocp.CheckpointManager.save = save
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
