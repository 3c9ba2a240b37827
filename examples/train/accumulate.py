"""Add up the gradients of microbatches, and let compilers choose when to communicate.

`in_every_microbatch` adds each gradient over the devices, as a plain loop says;
`chunks_of_a_loss` does so for each chunk of a loss. A compiler may move these sums
behind the loop. `once` leaves it no choice.

Run it: `python -m examples.train.accumulate`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import NamedSharding, P, lax

COUNT, WIDTH, HIDDEN = 4, 1024, 4096
EVERY = P("data")


def loss(params, x, y):
    """Return the mean squared error of a network with one hidden layer: ()."""
    hidden = jax.nn.relu(x @ params["w1"])
    return ((hidden @ params["w2"] - y) ** 2).mean()


def in_microbatches(array):
    """Return COUNT microbatches, each of examples from every device."""
    return array.reshape(-1, COUNT, *array.shape[1:]).swapaxes(0, 1)


def accumulate(params, total, x, y):
    """Return the mean gradient, added to zeros of the type that gradients have."""

    def add(total, micro):
        return jax.tree.map(jnp.add, total, jax.grad(loss)(params, *micro)), None

    total, _ = lax.scan(add, total, (in_microbatches(x), in_microbatches(y)))
    return jax.tree.map(lambda gradient: gradient / COUNT, jax.reshard(total, P()))


def in_every_microbatch(params, x, y):
    """Return the mean gradient; each microbatch adds its own over the devices."""
    return accumulate(params, jax.tree.map(jnp.zeros_like, params), x, y)


def once(params, x, y):
    """Return the mean gradient; the devices add theirs after the loop."""
    zeros = jax.tree.map(jnp.zeros_like, params)
    own = jax.reshard(params, P(reduced={"data"}))
    return accumulate(own, jax.reshard(zeros, P(unreduced={"data"})), x, y)


def chunks_of_a_loss(params, x, y):
    """Return the gradient of the mean loss, computed chunk by chunk in `lax.map`."""

    def mean_loss(params):
        one = jax.checkpoint(lambda chunk: loss(params, *chunk))
        return lax.map(one, (in_microbatches(x), in_microbatches(y))).mean()

    return jax.grad(mean_loss)(params)


def lowered(function, mesh):
    """Lower a way to make gradients for a mesh: 512 examples on each device."""
    mesh = jax.make_mesh((mesh.size,), ("data",), devices=[*mesh.devices.flat])
    rows = 512 * mesh.size

    def shaped(shape, spec):
        return jax.ShapeDtypeStruct(
            shape, jnp.bfloat16, sharding=NamedSharding(mesh, spec)
        )

    params = {
        "w1": shaped((WIDTH, HIDDEN), P()),
        "w2": shaped((HIDDEN, WIDTH), P()),
    }
    x, y = (shaped((rows, WIDTH), EVERY) for _ in range(2))
    with jax.set_mesh(mesh):
        return jax.jit(function).lower(params, x, y)


def lower(mesh):
    """Lower the loop that adds the gradient of each microbatch over the devices."""
    return lowered(in_every_microbatch, mesh)


def lower_once(mesh):
    """Lower the loop after which the devices add their gradients."""
    return lowered(once, mesh)


def lower_chunks(mesh):
    """Lower the gradient of a loss that is computed chunk by chunk."""
    return lowered(chunks_of_a_loss, mesh)


def main():
    """Compare the three ways with the gradient of the whole batch.

    >>> main()
    in_every_microbatch: True
    once: True
    chunks_of_a_loss: True
    """
    draw = np.random.default_rng(0)
    params = {"w1": draw.normal(size=(8, 16)), "w2": draw.normal(size=(16, 8))}
    params = jax.tree.map(np.float32, params)
    x, y = draw.normal(size=(2, 64, 8)).astype(np.float32)
    expected = jax.grad(loss)(params, x, y)
    with jax.set_mesh(jax.make_mesh((jax.device_count(),), ("data",))):
        placed = jax.device_put((x, y), EVERY)
        for way in in_every_microbatch, once, chunks_of_a_loss:
            found = jax.jit(way)(jax.device_put(params, P()), *placed)
            apart = {
                n: abs(found[n] - expected[n]).max() / abs(expected[n]).max()
                for n in params
            }
            print(f"{way.__name__}: {max(apart.values()) < 0.05}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
