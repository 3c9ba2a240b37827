"""Train a network on all devices of all processes, whoever started them.

Run it alone: `python train.py`. The launch files beside it add `--join`.
"""

import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import P
from jax.sharding import AxisType, Mesh

STEPS, ROWS, WIDTH = 41, 1024, 64
optimizer = optax.adam(1e-2)


def join():
    """Join the other processes, before anything else of JAX."""
    if "PROCESSES" not in os.environ:  # Slurm, Cloud TPU: JAX finds them
        jax.distributed.initialize()
    else:  # and JAX_COORDINATOR_ADDRESS
        jax.distributed.initialize(
            num_processes=int(os.environ["PROCESSES"]),
            process_id=int(os.environ["PROCESS"]),
            cluster_detection_method="deactivate",
        )


def init():
    """Return parameters, the same in every process."""
    rng = np.random.default_rng(0)
    hidden, out = rng.normal(0, 0.25, (8, WIDTH)), rng.normal(0, 0.1, WIDTH)
    return {"hidden": hidden.astype(np.float32), "out": out.astype(np.float32)}


def batch(step, sharding):
    """Return x, float32 (ROWS, 8), and y (ROWS,); a process keeps the rows it holds."""
    rows = np.random.default_rng(step).uniform(-1, 1, (ROWS, 8)).astype(np.float32)
    sines = np.sin(rows.sum(axis=1))
    x = jax.make_array_from_callback(rows.shape, sharding, lambda index: rows[index])
    y = jax.make_array_from_callback(sines.shape, sharding, lambda index: sines[index])
    return x, y


@jax.jit
def train_step(params, state, x, y):
    """Return the parameters and state after one step, and the loss before it."""

    def loss(params):
        return ((jnp.tanh(x @ params["hidden"]) @ params["out"] - y) ** 2).mean()

    value, grads = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


def main():
    """Train, and let process 0 tell how it goes.

    >>> main()  # doctest: +ELLIPSIS
    processes: 1, devices: 8
    step  0: loss 0.5...
    step 10: loss 0.3...
    step 20: loss 0.3...
    step 30: loss 0.2...
    step 40: loss 0.2...
    """
    mesh = Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,))
    first = jax.process_index() == 0
    if first:
        print(f"processes: {jax.process_count()}, devices: {mesh.size}")
    with jax.set_mesh(mesh):
        params = jax.device_put(init(), P())
        state = optimizer.init(params)
        for step in range(STEPS):
            x, y = batch(step, jax.NamedSharding(mesh, P("data")))
            params, state, loss = train_step(params, state, x, y)
            if step % 10 == 0:
                loss = float(loss)  # every process waits: none runs far ahead
                if first:
                    print(f"step {step:2}: loss {loss:.2f}")


if __name__ == "__main__":
    if "--join" in sys.argv:
        join()
    main()
