"""Train a mixture of experts whose experts are spread over all devices.

A router sends each token to one of 16 experts by an all_to_all, and another one returns
the results; an expert has a fixed number of slots, and tokens that find none count.

Run it: `python -m examples.train.experts`
"""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax import NamedSharding, P, lax

from examples.train.progress import plot, show

EXPERTS, WIDE, HIDDEN, TOKENS, FACTOR = 16, 16, 32, 512, 2


def mixture(params, x, name, factor=FACTOR):
    """Return outputs for the tokens (tokens, wide) of one device, dropped, balance."""
    (tokens, wide), experts = x.shape, params["router"].shape[1]
    capacity = factor * tokens // experts
    probabilities = jax.nn.softmax(x @ params["router"])
    expert, gate = probabilities.argmax(axis=1), probabilities.max(axis=1)
    chosen = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
    slot = (chosen.cumsum(axis=0) * chosen).sum(axis=1) - 1
    share = lax.pmean(chosen.mean(axis=0), name)
    mass = lax.pmean(probabilities.mean(axis=0), name)
    slots = jnp.zeros((experts, capacity, wide), x.dtype)
    slots = slots.at[expert, slot].set(x, mode="drop")
    arrived = lax.all_to_all(slots, name, split_axis=0, concat_axis=1, tiled=True)
    hidden = jax.nn.relu(jnp.einsum("ecd,edf->ecf", arrived, params["w1"]))
    done = jnp.einsum("ecf,efd->ecd", hidden, params["w2"])
    returned = lax.all_to_all(done, name, split_axis=1, concat_axis=0, tiled=True)
    y = returned.at[expert, slot].get(mode="fill", fill_value=0)
    dropped = lax.psum((slot >= capacity).sum(), name)
    return gate[:, None] * y, dropped, experts * (share * mass).sum()


def layer_on(mesh):
    """Return the layer for tokens and experts that are sharded over `mesh`."""
    (name,) = mesh.axis_names
    specs = {"router": P(), "w1": P(name), "w2": P(name)}
    body, ends = partial(mixture, name=name), (P(name), P(), P())
    mapped = jax.shard_map(body, mesh=mesh, in_specs=(specs, P(name)), out_specs=ends)
    return jax.jit(mapped), jax.tree.map(partial(NamedSharding, mesh), specs)


def init(key):
    """Return the parameters of the router and of all experts."""
    keys = jax.random.split(key, 3)
    return {
        "router": jax.random.normal(keys[0], (WIDE, EXPERTS)),
        "w1": jax.random.normal(keys[1], (EXPERTS, WIDE, HIDDEN)) * WIDE**-0.5,
        "w2": jax.random.normal(keys[2], (EXPERTS, HIDDEN, WIDE)) * HIDDEN**-0.5,
    }


def data(key):
    """Return tokens of as many clusters as experts, mapped by a matrix for each."""
    keys = jax.random.split(key, 4)
    cluster = jax.random.randint(keys[0], (TOKENS,), 0, EXPERTS)
    x = jax.random.normal(keys[1], (EXPERTS, WIDE))[cluster]
    x = x + 0.3 * jax.random.normal(keys[2], (TOKENS, WIDE))
    maps = jax.random.normal(keys[3], (EXPERTS, WIDE, WIDE)) * WIDE**-0.5
    return x, jnp.einsum("td,tdf->tf", x, maps[cluster])


def lower(mesh):
    """Lower the layer: 16 experts on 2 devices and more, 2048 tokens on each device."""
    layer, shardings = layer_on(mesh)
    experts, wide, hidden = max(EXPERTS, mesh.size), 1024, 4096
    w1, w2 = (experts, wide, hidden), (experts, hidden, wide)
    shapes = {"router": (wide, experts), "w1": w1, "w2": w2}
    on = partial(jax.ShapeDtypeStruct, dtype=jnp.bfloat16)
    params = {name: on(shapes[name], sharding=shardings[name]) for name in shapes}
    return layer.lower(params, on((2048 * mesh.size, wide), sharding=shardings["w1"]))


def train(mesh, steps=41):
    """Yield the error of each step, and how many tokens were dropped."""
    layer, shardings = layer_on(mesh)
    params = jax.device_put(init(jax.random.key(0)), shardings)
    x, target = jax.device_put(data(jax.random.key(1)), shardings["w1"])
    optimizer = optax.adam(0.01)
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        def loss(params):
            y, dropped, balance = layer(params, x)
            error = ((y - target) ** 2).mean()
            return error + 0.1 * balance, (error, dropped)

        grads, (error, dropped) = jax.grad(loss, has_aux=True)(params)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, error, dropped

    for _ in range(steps):
        params, state, error, dropped = step(params, state)
        yield error, dropped


def main():
    """Train on all devices, whose number decides what is dropped; return the losses.

    >>> losses = main()  # doctest: +ELLIPSIS
    step  0: loss 1..., ...% dropped
    step 20: loss 0..., ...% dropped
    step 40: loss 0.1..., ...% dropped
    """
    mesh = jax.make_mesh((jax.device_count(),), ("expert",))
    return show(train(mesh), 20, lambda dropped: f", {dropped / TOKENS:.0%} dropped")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    plot(main())
