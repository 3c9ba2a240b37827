"""Train, save as you go, and go on after a stop, on any number of processes.

Run it: `python checkpoint.py run`, or `python launch.py 2 checkpoint.py run --join`
"""

import os
import sys

import jax
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp
from jax import P
from jax.sharding import AxisType, Mesh, NamedSharding

STEPS, EVERY = 20, 5
adam = optax.adam(0.02)


def init():
    """Make the state of training, on all devices: weights sharded, as with FSDP."""
    w = jnp.zeros((64, 8), out_sharding=P("data"))  # on no device as one array
    return {"w": w, "adam": adam.init(w), "step": jax.device_put(jnp.int32(0), P())}


def described():
    """Describe the state, which saves making one that `restore` only looks at."""

    def on_this_mesh(leaf):
        spec = leaf.sharding.spec if leaf.sharding else P()
        place = NamedSharding(jax.sharding.get_mesh(), spec)
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=place)

    return jax.tree.map(on_this_mesh, jax.eval_shape(init))


def batch(step):
    """Make the batch of a step, from its number alone: a restart repeats it."""
    x = jax.random.normal(jax.random.fold_in(jax.random.key(0), step), (256, 64))
    return x, x @ jnp.ones((64, 8)) / 8


@jax.jit
def train_step(state):
    """Return the next state, the loss before it, and whether its weights are finite."""
    x, y = batch(state["step"])

    def loss(w):
        w = jax.reshard(w, P())  # all-gather; its gradient is a reduce-scatter
        return jnp.mean((x @ w - y) ** 2)

    value, grads = jax.value_and_grad(loss)(state["w"])
    updates, moments = adam.update(grads, state["adam"])
    w = optax.apply_updates(state["w"], updates)
    finite = jnp.isfinite(optax.global_norm(w))
    return {"w": w, "adam": moments, "step": state["step"] + 1}, value, finite


def train(saved, state):
    """Train from `state` on, until the last step or a preemption, saving as you go."""
    first = jax.process_index() == 0
    for step in range(int(state["step"]) + 1, STEPS + 1):
        state, loss, finite = train_step(state)
        if saved.should_save(step) and not finite:
            raise FloatingPointError(f"step {step} is not saved: it has NaNs")
        saved.save(step, args=ocp.args.StandardSave(state))
        if step % EVERY == 0 and first:
            print(f"step {step}: loss {loss:.4f}")
        if saved.reached_preemption(step):  # and `save` has saved it
            print(f"process {jax.process_index()} stops after step {step}")
            break


def main():
    """Go on from the newest checkpoint, or start from the beginning."""
    if "--join" in sys.argv:
        jax.distributed.initialize()
    jax.set_mesh(Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,)))
    folder = os.path.abspath(sys.argv[1] if sys.argv[1:] else "run")
    options = ocp.CheckpointManagerOptions(
        max_to_keep=2, keep_period=2 * EVERY, save_interval_steps=EVERY
    )
    with ocp.CheckpointManager(folder, options=options) as saved:
        newest = saved.latest_step()
        if newest is None:
            state = init()
        else:
            wanted = ocp.args.StandardRestore(described())
            state = saved.restore(newest, args=wanted)
            if jax.process_index() == 0:
                print(f"goes on from step {newest}")
        train(saved, state)


if __name__ == "__main__":
    main()
