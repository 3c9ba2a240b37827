"""Train the transformer with the weights of each layer sharded over all devices.

The first weight of a pair is sharded by columns, the second by rows, so that two
products need one all-reduce. `data_and_tensor` adds a second mesh axis for the batch.

Run it: `python -m examples.train.tensor_parallel`
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import AxisType, Mesh

from examples.train.data_parallel import lowered, retrain
from examples.train.one_device import step_of
from examples.train.progress import plot, show
from examples.train.transformer import attention, loss, norm

HEAD = 8  # the width of a head
SPECS = {
    "embed": P(),
    "position": P(),
    "qkv": P(None, None, None, "model"),
    "out": P(None, "model"),
    "up": P(None, None, "model"),
    "down": P(None, "model"),
}


def tensor_block(weights, x, product):
    """Attention and an MLP, of the heads and hidden units that this device has.

    product: multiplies two arrays whose contracting dimension is sharded.
    """
    qkv = jnp.einsum("bld,dne->nble", norm(x), weights["qkv"])
    q, k, v = qkv.reshape(*qkv.shape[:3], -1, HEAD)
    heads = attention(q, k, v)
    x = x + product(heads.reshape(*x.shape[:2], -1), weights["out"])
    return x + product(jax.nn.relu(norm(x) @ weights["up"]), weights["down"])


def mapped_block(weights, x):
    """Do what `block` does, as each device sees it in `shard_map`."""
    return tensor_block(weights, x, lambda a, b: lax.psum(a @ b, "model"))


def tensor_step(rows):
    """Return the step of a batch with the spec `rows`."""
    product = partial(jnp.matmul, out_sharding=rows)
    block = partial(tensor_block, product=product)
    return step_of(jax.value_and_grad(partial(loss, block=block)))


def mapped_step(rows):
    """Return the same step in `shard_map`."""

    @jax.shard_map(in_specs=(SPECS, rows, rows), out_specs=(P(), SPECS))
    def gradient(params, tokens, keys):
        def mean_loss(params):
            own = loss(params, tokens, keys, block=mapped_block)
            return lax.pmean(own, tuple(rows))  # along the axes of the batch, if any

        return jax.value_and_grad(mean_loss)(params)

    return step_of(gradient)


def lower(mesh):
    """Lower the step for a mesh of any size, as groups of eight that share a model."""
    axes, types = ("data", "model"), (AxisType.Explicit,) * 2
    grid = Mesh(mesh.devices.reshape(-1, min(8, mesh.size)), axes, axis_types=types)
    step = jax.jit(tensor_step(P("data")), donate_argnums=(0, 1))
    with jax.set_mesh(grid):
        return lowered(step, 8 * grid.shape["data"], SPECS)


def main(step=tensor_step):
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
    step = jax.jit(step(P()), donate_argnums=(0, 1))
    with jax.set_mesh(jax.make_mesh((jax.device_count(),), ("model",))):
        return show(retrain(16, step, SPECS, P()))


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    plot(main())
