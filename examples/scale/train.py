"""Train on the devices of all processes, with the loop that one process has.

Run it: `python -m examples.scale.launch 2 -m examples.scale.train`
"""

import jax
from jax.sharding import AxisType, Mesh

from examples.train.data_parallel import retrain
from examples.train.one_device import train_step


def main():
    """Join the other processes, and do what one would do alone."""
    jax.distributed.initialize()
    jax.set_mesh(Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,)))

    step = jax.jit(train_step, donate_argnums=(0, 1))
    for number, (loss, _) in enumerate(retrain(4, step)):
        if jax.process_index() == 0:
            print(f"step {number}: loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
