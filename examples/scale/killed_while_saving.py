"""Run a program that trains, and kill process 1 as step 10 is saved.

Run it: `python launch.py 2 killed_while_saving.py checkpoint.py run --join`
"""

import os
import runpy
import signal
import sys

import jax
import orbax.checkpoint as ocp

AT = 10
whole = ocp.CheckpointManager.save


def save(manager, step, **options):
    """Save a step, unless this is the process that does not live to see it."""
    if step == AT and jax.process_index() == 1:
        manager.wait_until_finished()  # the step before this one is safe
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(manager, step, **options)


if __name__ == "__main__":
    ocp.CheckpointManager.save = save
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
