"""Train the transformer with its blocks on different devices, as a pipeline.

Every device runs the same program: in each turn it computes its blocks, for a fresh
microbatch or for what the stage before handed on, and hands on the result.

Run it: `python -m examples.train.pipeline`
"""

from math import gcd

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import AxisType, Mesh

from examples.train.data_parallel import lowered, retrain
from examples.train.one_device import step_of
from examples.train.progress import plot, show
from examples.train.transformer import BLOCK, embed, score, through

SPECS = {"embed": P(), "position": P()} | dict.fromkeys(BLOCK, P("stage"))
MICROBATCHES = 8


def pipeline(compute, micro):
    """Return what this stage computed in each turn: (M, ...) gives (M + S - 1, ...)."""
    stages, first = lax.axis_size("stage"), lax.axis_index("stage") == 0
    pairs = [(s, s + 1) for s in range(stages - 1)]

    def turn(received, fresh):
        y = compute(jnp.where(first, fresh, received))
        return lax.ppermute(y, "stage", pairs), y

    idle = jnp.zeros((stages - 1, *micro.shape[1:]), micro.dtype)
    micro = jnp.concatenate([micro, idle])
    return lax.scan(turn, jnp.zeros_like(micro[0]), micro)[1]


def mean_loss(params, tokens, keys):
    """Return the mean loss of the batch, as each device sees it: ()."""
    # Cast before the turns, so that gradients are added once, after them; and tables
    # before the embedding, so that theirs are added, not those of what was embedded.
    own_blocks = {name: params[name] for name in BLOCK}
    own_blocks = lax.pcast(own_blocks, "data", to="varying")
    tables = {name: params[name] for name in SPECS if name not in BLOCK}
    tables = lax.pcast(tables, ("data", "stage"), to="varying")
    x, stages = embed(tables, tokens[:, :-1], keys), lax.axis_size("stage")
    micro = x.reshape(MICROBATCHES, -1, *x.shape[1:])
    results = pipeline(jax.checkpoint(lambda x: through(own_blocks, x)), micro)
    own = score(tables, results[stages - 1 :].reshape(x.shape), tokens[:, 1:]).mean()
    last = lax.axis_index("stage") == stages - 1
    return lax.pmean(lax.psum(jnp.where(last, own, 0), "stage"), "data")


def gradient(params, tokens, keys):
    """Return the loss and its gradient, sharded as the parameters are."""
    return jax.shard_map(
        jax.value_and_grad(mean_loss),
        in_specs=(SPECS, P("data"), P("data")),
        out_specs=(P(), SPECS),
    )(params, tokens, keys)


pipelined_step = step_of(gradient)


def lower(mesh):
    """Lower `pipelined_step` for a mesh of any size, as pipelines of four stages."""
    axes, types = ("data", "stage"), (AxisType.Explicit,) * 2
    grid = Mesh(mesh.devices.reshape(-1, 4), axes, axis_types=types)
    step = jax.jit(pipelined_step, donate_argnums=(0, 1))
    with jax.set_mesh(grid):
        return lowered(step, 32 * grid.shape["data"], SPECS, blocks=4)


def main():
    """Train on all devices, in pipelines of up to four; return the loss of each step.

    >>> with jax.default_matmul_precision("highest"):
    ...     losses = main()  # doctest: +ELLIPSIS
    step  0: loss 4.1...
    step  5: loss 3.2...
    step 10: loss 2.3...
    step 15: loss 1.7...
    """
    n = jax.device_count()
    stages = gcd(n, 4)
    step = jax.jit(pipelined_step, donate_argnums=(0, 1))
    with jax.set_mesh(jax.make_mesh((n // stages, stages), ("data", "stage"))):
        return show(retrain(16, step, SPECS, blocks=4))


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    plot(main())
