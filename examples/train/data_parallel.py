"""Train the transformer on batches that are sharded over all devices.

Every device holds all parameters, and `jit` averages the gradients. `mapped_step` is
the same in `shard_map`; both give the losses of one device.

Run it: `python -m examples.train.data_parallel`
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.train.transformer import (
    BLOCKS,
    batch,
    init,
    loss,
    optimizer,
    train,
    train_step,
)

REPLICATED, ROWS = P(), P("data")


def mapped_step(params, state, tokens, keys):
    """Do what `train_step` does, as each device sees it: an eighth of the batch."""

    def mean_loss(params):
        return lax.pmean(loss(params, tokens, keys), "data")

    value, grads = jax.value_and_grad(mean_loss)(params)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


def mapped(step):
    """Return `step` for sharded batches, from what one device does."""
    specs = (P(), P(), P("data"), P("data"))
    step = jax.shard_map(step, in_specs=specs, out_specs=P())
    return jax.jit(step, donate_argnums=(0, 1))


def retrain(steps, step, specs=REPLICATED, rows=ROWS, blocks=BLOCKS):
    """Return what `train` returns, of a compiled step on the mesh that is set.

    specs: of the parameters, which the optimizer state follows; rows: of the batch.
    """

    @jax.jit(out_shardings=rows)  # not device_put, which takes no keys to other hosts
    def draw(number):
        return jax.random.split(jax.random.fold_in(jax.random.key(1), number), 64)

    params = jax.device_put(init(0, blocks), specs)
    state, found = optimizer.init(params), []
    for number in range(steps):
        tokens = jax.device_put(batch(number), rows)
        params, state, mean_loss = step(params, state, tokens, draw(number))
        found.append((float(mean_loss), jax.device_get(params)))
    return found


def full_products():
    """Return a context of full float32 products; on a CPU, where they are, no other."""
    number = jnp.full((1, 1), 1 + 2.0**-20)
    full = bool((number @ jnp.ones((1, 1)) == number).all())
    return jax.default_matmul_precision(None if full else "highest")


def apart(found, expected):
    """Return the largest differences of losses, and of parameters, over all steps."""
    pairs = list(zip(found, expected, strict=True))
    losses = [abs(a[0] - b[0]) for a, b in pairs]
    params = [np.abs(a[1][name] - b[1][name]).max() for a, b in pairs for name in a[1]]
    return max(losses), max(params)


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


def report(found, alone, close):
    """Print some losses, and whether all are those of one device, to `close`."""
    for number in range(0, len(found), 5):
        print(f"step {number:2}: loss {found[number][0]:.2f}")
    print(f"as on one device: {apart(found, alone)[0] < close}")


def main():
    """Train on all devices, and compare the losses with those of one device.

    >>> main()
    step  0: loss 3.98
    step  5: loss 2.62
    step 10: loss 1.63
    step 15: loss 1.03
    as on one device: True
    """
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    with full_products(), jax.set_mesh(mesh):
        alone = train(16)
        found = retrain(16, jax.jit(train_step, donate_argnums=(0, 1)))
    report(found, alone, 1e-5)


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
