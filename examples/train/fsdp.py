"""Train the transformer with parameters, gradients and Adam's state sharded.

The weights of a block are gathered where the block begins, inside `jax.checkpoint`, so
that none are kept; a compiler may still gather small blocks together. `gathered_block`
leaves gradients to `jit`; `mapped_block` says `all_gather`, whose transpose is the
reduce-scatter of gradients.

Run it: `python -m examples.train.fsdp`
"""

import jax
from jax import P, lax
from jax.sharding import AxisType, Mesh

from examples.train.data_parallel import lowered, retrain
from examples.train.one_device import step_of
from examples.train.progress import plot, show
from examples.train.transformer import BLOCK, block, loss

ENDS = ("embed", "position")
SPECS = dict.fromkeys(ENDS, P("data")) | dict.fromkeys(BLOCK, P(None, "data"))


@jax.checkpoint
def gathered_block(weights, x):
    """Do what `block` does, from an eighth of the weights on each device."""
    return block(jax.reshard(weights, P()), x)


def sharded_loss(params, tokens, keys):
    """Return the mean loss of the batch: ()."""
    ends = jax.reshard({name: params[name] for name in ENDS}, P())
    return loss(params | ends, tokens, keys, block=gathered_block)


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


def mapped_gradient(params, tokens, keys):
    """Return the loss and its gradient, sharded as the parameters are."""
    return jax.shard_map(
        jax.value_and_grad(mean_loss),
        in_specs=(SPECS, P("data"), P("data")),
        out_specs=(P(), SPECS),
    )(params, tokens, keys)


sharded_step = step_of(jax.value_and_grad(sharded_loss))
mapped_step = step_of(mapped_gradient)


def lower(mesh, step=sharded_step):
    """Lower `sharded_step` for a mesh of any size: eight examples on each device."""
    mesh = Mesh(mesh.devices, ("data",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        return lowered(jax.jit(step, donate_argnums=(0, 1)), 8 * mesh.size, SPECS)


def lower_mapped(mesh):
    """Lower `mapped_step` for a mesh of any size."""
    return lower(mesh, mapped_step)


def main(step=sharded_step):
    """Train on all devices; return the loss of each step.

    >>> with jax.default_matmul_precision("highest"):
    ...     losses, mapped_losses = main(), main(mapped_step)  # doctest: +ELLIPSIS
    step  0: loss 3.9...
    step  5: loss 2.6...
    step 10: loss 1.6...
    step 15: loss 1.0...
    step  0: loss 3.9...
    step  5: loss 2.6...
    step 10: loss 1.6...
    step 15: loss 1.0...
    """
    step = jax.jit(step, donate_argnums=(0, 1))
    with jax.set_mesh(jax.make_mesh((jax.device_count(),), ("data",))):
        return show(retrain(16, step, SPECS))


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    plot(main())
