"""Train the transformer on batches that are sharded over all devices.

Every device holds all parameters, and `jit` averages the gradients. `mapped_step` is
the same in `shard_map`; both give the losses of one device.

Run it: `python -m examples.train.data_parallel`
"""

import jax
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.train.one_device import optimizer, step_of, train_step
from examples.train.progress import plot, show
from examples.train.transformer import BLOCKS, batch, init, loss

REPLICATED, ROWS = P(), P("data")


def mean_loss(params, tokens, keys):
    """Return the mean loss of the batch, as each device sees it: ()."""
    return lax.pmean(loss(params, tokens, keys), "data")


def mapped_step(params, state, tokens, keys):
    """Run the step on every device, with its part of the batch."""
    own_step = step_of(jax.value_and_grad(mean_loss))
    specs = P(), P(), P("data"), P("data")
    step = jax.shard_map(own_step, in_specs=specs, out_specs=P())
    return step(params, state, tokens, keys)


def retrain(steps, step, specs=REPLICATED, rows=ROWS, blocks=BLOCKS):
    """Yield what `train` yields, of a compiled step on the mesh that is set.

    specs: of the parameters, which the optimizer state follows; rows: of the batch.
    """

    @jax.jit(out_shardings=rows)  # not device_put, which takes no keys to other hosts
    def draw(number):
        return jax.random.split(jax.random.fold_in(jax.random.key(1), number), 64)

    params = jax.device_put(init(0, blocks), specs)
    state = optimizer.init(params)
    for number in range(steps):
        tokens = jax.device_put(batch(number), rows)
        params, state, mean_loss = step(params, state, tokens, draw(number))
        yield mean_loss, params


def lowered(step, count, specs=REPLICATED, rows=ROWS, blocks=BLOCKS):
    """Lower `step` of `count` examples for the mesh that is set."""

    def shapes(tree, spec):
        def shape(x, spec):
            sharding = NamedSharding(jax.sharding.get_mesh(), spec)
            return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding)

        specs = spec if isinstance(spec, dict) else jax.tree.map(lambda _: spec, tree)
        return jax.tree.map(shape, tree, specs)

    params = shapes(init(0, blocks), specs)
    state = jax.eval_shape(optimizer.init, params)
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), count))
    return step.lower(params, state, *shapes((batch(0, count), keys), rows))


def lower(mesh):
    """Lower `train_step` for a mesh of any size: eight examples on each device."""
    mesh = Mesh(mesh.devices, ("data",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        return lowered(jax.jit(train_step, donate_argnums=(0, 1)), 8 * mesh.size)


def main(step=train_step):
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
        return show(retrain(16, step))


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    plot(main())
