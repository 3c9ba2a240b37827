"""Train a linear model on a table of rows, print its loss, and save it.

Run it: `python launch.py 2 many_hosts.py`
"""

import os

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from jax import P
from jax.sharding import AxisType, Mesh

STEPS, BATCH = 20, 64
adam = optax.adam(0.02)


def load(numbers):
    """Read rows by their numbers, float32[n,65]: 64 features and a target."""
    rows = np.stack([np.random.default_rng(n).normal(size=65) for n in numbers])
    rows[:, 64] = rows[:, :64].sum(axis=1) / 8
    return rows.astype(np.float32)


@jax.jit
def train_step(params, state, batch):
    """Return the next parameters and state, and the loss of a batch float32[n,65]."""

    def loss_of(params):
        return jnp.mean((batch[:, :64] @ params["w"] - batch[:, 64]) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(params)
    updates, state = adam.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


def main():
    """Train on one batch after the other, and save the parameters."""
    jax.distributed.initialize()
    jax.set_mesh(Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,)))
    params = jax.device_put({"w": jnp.zeros(64)}, P())
    state = adam.init(params)
    sharding = jax.NamedSharding(jax.sharding.get_mesh(), P("data"))
    mine = BATCH // jax.process_count()
    assert mine * jax.process_count() == BATCH
    for step in range(STEPS):
        first = step * BATCH + mine * jax.process_index()
        rows = load(range(first, first + mine))
        batch = jax.make_array_from_process_local_data(sharding, rows)
        params, state, loss = train_step(params, state, batch)
        if step % 5 == 4 and jax.process_index() == 0:
            print(f"step {step + 1}: loss {loss:.4f}")
    with ocp.CheckpointManager(os.path.abspath("run")) as saved:
        saved.save(STEPS, args=ocp.args.StandardSave(params))


if __name__ == "__main__":
    main()
