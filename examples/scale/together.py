"""Agree on a seed, take a step under jit and one in shard_map, and save the result.

Run it: `python launch.py 2 together.py`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh


def loss(weights, batch):
    """Return the mean squared error of a batch (rows, 4) whose targets are one: ()."""
    return ((batch @ weights - 1) ** 2).mean()


@jax.jit
def step(weights, batch):
    """Return the next weights (4,), from a batch that is sharded over all devices."""
    return weights - 0.1 * jax.grad(loss)(weights, batch)


@jax.jit
@jax.shard_map(in_specs=(P(), P("data")), out_specs=P())
def mapped_step(weights, batch):
    """Do the same, as each device sees it."""

    def mean_loss(weights):
        return lax.pmean(loss(weights, batch), "data")

    return weights - 0.1 * jax.grad(mean_loss)(weights)


def main():
    """Take both steps on a batch that every process draws from the same seed."""
    jax.distributed.initialize()
    jax.set_mesh(Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,)))

    own_seed = np.int32(100 + jax.process_index())
    seed = multihost_utils.broadcast_one_to_all(own_seed)  # that of process 0
    rows = np.random.default_rng(int(seed)).normal(size=(16, 4))
    batch = jax.device_put(rows.astype(np.float32), P("data"))
    weights = jax.device_put(jnp.zeros(4), P())
    print("own seed", own_seed, "and the seed for all", seed)
    print("jit      ", step(weights, batch))
    print("shard_map", mapped_step(weights, batch))

    weights = np.asarray(step(weights, batch))  # replicated, so it can be read
    if jax.process_index() == 0:
        np.save("weights.npy", weights)
    multihost_utils.sync_global_devices("weights are saved")
    print("loaded   ", np.load("weights.npy"))


if __name__ == "__main__":
    main()
