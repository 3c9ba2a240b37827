"""Train on the devices of all processes, with the loop that one process has.

Run it: `python -m examples.scale.launch 2 -m examples.scale.train`
"""

import jax

from examples.train.data_parallel import retrain
from examples.train.one_device import train_step


def main():
    """Join the other processes, and do what one would do alone."""
    jax.distributed.initialize()
    jax.set_mesh(jax.make_mesh((jax.device_count(),), ("data",)))

    trained = retrain(4, jax.jit(train_step, donate_argnums=(0, 1)))
    if jax.process_index() == 0:
        for step, (loss, _) in enumerate(trained):
            print(f"step {step}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
