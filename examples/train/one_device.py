"""Train the transformer on one device: what trainings on several are compared with.

Run it: `python -m examples.train.one_device`
"""

import jax
import optax
from jax import P
from jax.sharding import NamedSharding

from examples.train.progress import plot, show
from examples.train.transformer import BLOCKS, batch, init, loss

optimizer = optax.adam(1e-2)


def step_of(gradient):
    """Return a training step, from a function that gives the loss and its gradient."""

    def step(params, state, tokens, keys):
        mean_loss, grads = gradient(params, tokens, keys)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, mean_loss

    return step


train_step = step_of(jax.value_and_grad(loss))


def train(steps, order=slice(None), blocks=BLOCKS):
    """Train on one device: yield the loss and the parameters of each step."""
    alone = jax.make_mesh((1,), ("data",), devices=jax.devices()[:1])
    params = jax.device_put(init(0, blocks), NamedSharding(alone, P()))
    with jax.set_mesh(alone):
        state, key = optimizer.init(params), jax.random.key(1)
    step = jax.jit(train_step)
    for number in range(steps):
        with jax.set_mesh(alone):
            keys = jax.random.split(jax.random.fold_in(key, number), 64)[order]
            params, state, mean_loss = step(params, state, batch(number)[order], keys)
        yield mean_loss, params


def main():
    """Train on one device; return the loss of each step.

    >>> with jax.default_matmul_precision("highest"):
    ...     losses = main()  # doctest: +ELLIPSIS
    step  0: loss 3.9...
    step  5: loss 2.6...
    step 10: loss 1.6...
    """
    return show(train(11))


if __name__ == "__main__":
    plot(main())
