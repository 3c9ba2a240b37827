"""Map derivatives: a gradient for each example, a Jacobian, four models at once.

Why it is hard: `grad` wants one number and gives one gradient, and a loop over
examples, columns of a Jacobian or models records the same operations again and again.
What finishes it: write the derivative for one, with `grad`, `jvp` or `vjp`, and map it
by `vmap`, over examples, over unit vectors, over parameters.

Run it: `python -m examples.vmap.gradients`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

RATE = 1 / 8  # a power of two: whole numbers stay exact


def loss(w, x, y):
    """Return the squared error of one example: weights (n,), input (n,), target ()."""
    return (x @ w - y) ** 2


def mean_loss(w, x, y):
    """Return the mean of the losses of all examples: (n,), (m, n), (m,) give ()."""
    return jax.vmap(loss, in_axes=(None, 0, 0))(w, x, y).mean()


def reference(w, x, y):
    """Return the gradients of all examples, (m, n), by a plain Python loop."""
    return jnp.stack([jax.grad(loss)(w, *row) for row in zip(x, y, strict=True)])


def per_example(w, x, y):
    """Return the gradient of each example: (n,), (m, n), (m,) give (m, n)."""
    return jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(w, x, y)


def jacobian_forward(f, x):
    """Return the Jacobian of `f` at `x`, (m, n) for n inputs, column by column."""
    push = partial(jax.jvp, f, (x,))
    return jax.vmap(lambda unit: push((unit,))[1], out_axes=1)(jnp.eye(len(x)))


def jacobian_reverse(f, x):
    """Return the Jacobian of `f` at `x`, (m, n) for m outputs, row by row."""
    y, pull = jax.vjp(f, x)
    return jax.vmap(lambda unit: pull(unit)[0])(jnp.eye(len(y)))


def hessian_times(f, x, v):
    """Return the Hessian of `f` at `x` times `v`, (n,), without the Hessian."""
    return jax.jvp(jax.grad(f), (x,), (v,))[1]


def init(key):
    """Return the parameters of one model: w (5,) and b (), whole numbers."""
    for_w, for_b = jax.random.split(key)
    return {
        "w": jax.random.randint(for_w, (5,), -3, 4).astype(jnp.float32),
        "b": jax.random.randint(for_b, (), -3, 4).astype(jnp.float32),
    }


def step(model, x, y):
    """Return one model after one step of gradient descent on (m, 5) and (m,)."""
    gradient = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(model)
    return jax.tree.map(lambda p, g: p - RATE * g, model, gradient)


def root(x):
    """Return the root of a number, and 0 where it has none, by `where`."""
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)


def guarded_root(x):
    """Return the same, and keep what has no root out of `sqrt`, too."""
    return jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0)


def network(inputs, outputs):
    """Return a function from (inputs,) to (outputs,), by way of 32 squares."""
    up = np.arange(inputs * 32, dtype=np.float32).reshape(inputs, 32) % 3 - 1
    down = np.arange(32 * outputs, dtype=np.float32).reshape(32, outputs) % 5 - 2
    return lambda x: (x @ up) ** 2 @ down


def batch(rows=16):
    """Return weights (5,), inputs (rows, 5) and targets (rows,), whole numbers."""
    x = jnp.arange(5.0 * rows).reshape(rows, 5)
    return jnp.array([1.0, -1.0, 2.0, 0.0, 3.0]), x % 7 - 3, x[:, 0] % 5


def main():
    """Map gradients, Jacobians and models, and compare each with its loop.

    >>> main()
    (5,), (16, 5) and (16,) give gradients of shape (16, 5)
    the loop's gradients, and their mean is the gradient of the mean: True
    unit vectors through jvp and vjp give jacfwd and jacrev: True
    four models in one step are four steps: True
    """
    w, x, y = batch()
    gradients = per_example(w, x, y)
    print(f"{w.shape}, {x.shape} and {y.shape} give gradients of shape", end=" ")
    print(gradients.shape)
    mean = jax.grad(mean_loss)(w, x, y)
    f, at = network(4, 6), jnp.arange(4.0)
    pairs = (jacobian_forward, jax.jacfwd), (jacobian_reverse, jax.jacrev)
    keys = jax.random.split(jax.random.key(0), 4)
    models = jax.vmap(step, in_axes=(0, None, None))(jax.vmap(init)(keys), x, y)
    one_by_one = [step(init(key), x, y) for key in keys]
    claims = {
        "the loop's gradients, and their mean is the gradient of the mean": (
            np.array_equal(gradients, reference(w, x, y))
            and np.array_equal(gradients.mean(axis=0), mean)
        ),
        "unit vectors through jvp and vjp give jacfwd and jacrev": all(
            np.array_equal(ours(f, at), theirs(f)(at)) for ours, theirs in pairs
        ),
        "four models in one step are four steps": all(
            np.array_equal(models[name], [model[name] for model in one_by_one])
            for name in models
        ),
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    main()
