"""A loss of one row, its gradient by hand, and counts of what a gradient computes.

Run it: `python -m examples.jit.with_grad`
"""

import jax
import jax.numpy as jnp

from examples.vmap.what_it_does import equations

AXES = (None, 0, 0)  # all rows share the weights


def reference(weights, rows, targets):
    """Return `miss`'s gradient for each row by hand: (k,), (n, k), (n,) to (n, k)."""
    return 2 * (rows @ weights - targets)[:, None] * rows


def miss(weights, row, target):
    """Return the squared error of one row: (k,), (k,) and () give ()."""
    return (jnp.vdot(weights, row) - target) ** 2


def batch():
    """Return whole numbers, float32: weights (3,), rows (8, 3) and targets (8,)."""
    return jnp.arange(3.0), jnp.arange(24.0).reshape(8, 3) % 7, jnp.arange(8.0)


def products(f, *args):
    """Return how many dot products the jaxpr of `f` contains."""
    found = equations(jax.make_jaxpr(f)(*args))
    return sum(equation.primitive.name == "dot_general" for equation in found)


def main():
    """Compare the gradient of each row with the one by hand.

    >>> main()
    the gradient of each row, (8, 3), is the one by hand: True
    """
    found = jax.jit(jax.vmap(jax.grad(miss), in_axes=AXES))(*batch())
    holds = (found == reference(*batch())).all()
    print(f"the gradient of each row, {found.shape}, is the one by hand: {holds}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
