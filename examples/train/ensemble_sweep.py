"""Find a learning rate by successive halving, on as many devices as there are.

64 models begin, each with a rate and a seed of its own, sharded over the devices. After
each round the better half goes on; all of them train in one program.

Run it: `python -m examples.train.ensemble_sweep`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import NamedSharding, P, lax

from examples.train.progress import plot

MODELS, ROUNDS, STEPS = 64, 3, 60


def data(key):
    """Return 256 examples of four features, and their targets."""
    x = jax.random.normal(key, (256, 4))
    return x, jnp.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]


def init(key):
    """Return the parameters of one network."""
    key1, key2 = jax.random.split(key)
    w1 = 0.5 * jax.random.normal(key1, (4, 32))
    w2 = 0.2 * jax.random.normal(key2, (32,))
    return {"w1": w1, "b1": jnp.zeros(32), "w2": w2}


def loss(params, x, y):
    """Return the mean squared error of one network."""
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return ((hidden @ params["w2"] - y) ** 2).mean()


def start(key, rate):
    """Return parameters and optimizer state of one model."""
    params = init(key)
    return params, optax.adam(rate).init(params)


def train(model, rate, x, y):
    """Train one model, `(params, state)`, for STEPS; return it and its losses."""

    def step(model, _):
        params, state = model
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, state = optax.adam(rate).update(grads, state)
        return (optax.apply_updates(params, updates), state), value

    return lax.scan(step, model, length=STEPS)


@jax.jit
def train_all(models, rates, x, y):
    """Train each model with its rate."""
    return jax.vmap(train, in_axes=(0, 0, None, None))(models, rates, x, y)


@jax.jit(static_argnums=3)
def choose(models, rates, order, sharding):
    """Return the models, and their rates, at the places `order`, sharded again."""

    def pick(leaf):
        return leaf.at[order].get(out_sharding=sharding)

    return jax.tree.map(pick, (models, rates))


def lower(mesh):
    """Lower a round on a mesh of any size, with eight models on each device."""
    sharded = NamedSharding(mesh, P(mesh.axis_names[0]))
    replicated = NamedSharding(mesh, P())
    keys = jax.random.split(jax.random.key(0), 8 * mesh.size)
    models = jax.eval_shape(jax.vmap(start), keys, jnp.ones(8 * mesh.size))

    def on(sharding, leaf):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)

    models = jax.tree.map(partial(on, sharded), models)
    rates = jax.ShapeDtypeStruct((8 * mesh.size,), jnp.float32, sharding=sharded)
    examples = jax.eval_shape(data, jax.random.key(0))
    return train_all.lower(models, rates, *map(partial(on, replicated), examples))


def main():
    """Print the best loss of each round; return the lowest of each step.

    >>> losses = main()  # doctest: +ELLIPSIS
    64 models: best loss 0.0..., with rate 0...
    32 models: best loss 0.0..., with rate 0...
    16 models: best loss 0.0..., with rate 0...
    """
    lowest, mesh = [], jax.make_mesh((jax.device_count(),), ("model",))
    sharded = NamedSharding(mesh, P("model"))
    x, y = jax.device_put(data(jax.random.key(0)), NamedSharding(mesh, P()))
    keys = jax.random.split(jax.random.key(1), MODELS)
    rates = np.logspace(-4, 0, MODELS, dtype=np.float32)
    keys, rates = jax.device_put((keys, rates), sharded)
    models = jax.device_put(jax.jit(jax.vmap(start))(keys, rates), sharded)
    for number in range(ROUNDS):
        models, losses = train_all(models, rates, x, y)
        lowest += np.nanmin(losses, axis=0).tolist()
        order = np.argsort(np.asarray(losses)[:, -1])
        rate = np.asarray(rates)[order[0]]
        print(f"{len(order)} models: best loss {lowest[-1]:.4f}, with rate {rate:.3f}")
        if number + 1 < ROUNDS:
            models, rates = choose(models, rates, order[: len(order) // 2], sharded)
    return lowest


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    plot(main())
