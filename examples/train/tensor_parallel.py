"""Train the transformer with the weights of each layer sharded over all devices.

The first weight of a pair is sharded by columns, the second by rows, so that two
products need one all-reduce. `data_and_tensor` adds a second mesh axis for the batch.

Run it: `python -m examples.train.tensor_parallel`
"""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax import P, lax
from jax.sharding import AxisType, Mesh

from examples.train.data_parallel import full_products, lowered, report, retrain
from examples.train.transformer import WIDTH, attention, loss, norm, optimizer, train

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


def by_types(rows):
    """Return the block for `jit`; `rows` is the spec of the batch."""
    return partial(tensor_block, product=partial(jnp.matmul, out_sharding=rows))


def mapped_block(weights, x):
    """Do what `block` does, as each device sees it in `shard_map`."""
    return tensor_block(weights, x, lambda a, b: lax.psum(a @ b, "model"))


def tensor_step(rows):
    """Return the step of a batch with the spec `rows`."""
    block = by_types(rows)

    def step(params, state, tokens, keys):
        def mean_loss(params):
            return loss(params, tokens, keys, block=block)

        value, grads = jax.value_and_grad(mean_loss)(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return jax.jit(step, donate_argnums=(0, 1))


def lower(mesh):
    """Lower the step for a mesh of any size, as groups of eight that share a model."""
    axes, types = ("data", "model"), (AxisType.Explicit,) * 2
    grid = Mesh(mesh.devices.reshape(-1, min(8, mesh.size)), axes, axis_types=types)
    rows = P("data")
    with jax.set_mesh(grid):
        return lowered(tensor_step(rows), 8 * grid.shape["data"], SPECS, rows)


def main():
    """Train on eight devices, and compare with one.

    >>> main()
    step  0: loss 3.98
    step  5: loss 2.62
    step 10: loss 1.63
    step 15: loss 1.03
    as on one device: True
    """
    assert WIDTH // HEAD == 8
    with full_products(), jax.set_mesh(jax.make_mesh((8,), ("model",))):
        alone = train(16)
        found = retrain(16, tensor_step(P()), SPECS, P())
    report(found, alone, 1e-3)


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
