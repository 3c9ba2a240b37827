"""Train the transformer with parameters, gradients and Adam's state sharded.

The weights of a block are gathered where the block begins, inside `jax.checkpoint`, so
that no device holds those of two blocks. `gathered_block` leaves gradients to `jit`;
`mapped_block` says `all_gather`, whose transpose is the reduce-scatter of gradients.

Run it: `python -m examples.train.fsdp`
"""

import jax
import optax
from jax import P, lax
from jax.sharding import AxisType, Mesh

from examples.train.data_parallel import full_products, lowered, report, retrain
from examples.train.transformer import block, loss, optimizer, train

ENDS, BLOCK = ("embed", "position"), ("qkv", "out", "up", "down")
SPECS = dict.fromkeys(ENDS, P("data")) | dict.fromkeys(BLOCK, P(None, "data"))


@jax.checkpoint
def gathered_block(weights, x):
    """Do what `block` does, from an eighth of the weights on each device."""
    return block(jax.reshard(weights, P()), x)


def sharded_loss(params, tokens, keys):
    """Return the mean loss of the batch: ()."""
    ends = jax.reshard({name: params[name] for name in ENDS}, P())
    return loss(params | ends, tokens, keys, block=gathered_block)


def sharded_step(params, state, tokens, keys):
    """Return the next parameters and optimizer state, and the loss before the step."""
    mean_loss, grads = jax.value_and_grad(sharded_loss)(params, tokens, keys)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, mean_loss


def gather(weights):
    """Return all of the weights from the shards of all devices."""
    return jax.tree.map(lambda w: lax.all_gather(w, "data", tiled=True), weights)


@jax.checkpoint
def mapped_block(weights, x):
    """Do what `block` does, as each device sees it."""
    return block(gather(weights), x)


def mean_loss(params, tokens, keys):
    """Return the mean loss of the batch, as each device sees it: ()."""
    ends = gather({name: params[name] for name in ENDS})
    return lax.pmean(loss(params | ends, tokens, keys, block=mapped_block), "data")


def gradient(params, tokens, keys):
    """Return the gradient of `mean_loss`, sharded as the parameters are."""
    specs = (SPECS, P("data"), P("data"))
    body = jax.grad(mean_loss)
    return jax.shard_map(body, in_specs=specs, out_specs=SPECS)(params, tokens, keys)


def mapped_step(params, state, tokens, keys):
    """Do what `sharded_step` does, with the gradient of `shard_map`."""
    updates, state = optimizer.update(gradient(params, tokens, keys), state, params)
    return optax.apply_updates(params, updates), state


def lower(mesh, step=sharded_step):
    """Lower `sharded_step` for a mesh of any size: eight examples on each device."""
    mesh = Mesh(mesh.devices, ("data",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        return lowered(jax.jit(step, donate_argnums=(0, 1)), 8 * mesh.size, SPECS)


def lower_mapped(mesh):
    """Lower `mapped_step` for a mesh of any size."""
    return lower(mesh, mapped_step)


def main():
    """Train on eight devices, and compare with one.

    >>> main()
    step  0: loss 3.98
    step  5: loss 2.62
    step 10: loss 1.63
    step 15: loss 1.03
    as on one device: True
    """
    with full_products(), jax.set_mesh(jax.make_mesh((8,), ("data",))):
        alone = train(16)
        found = retrain(16, jax.jit(sharded_step, donate_argnums=(0, 1)), SPECS)
    report(found, alone, 1e-3)


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
