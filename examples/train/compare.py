"""Compare a training on several devices with the same training on one, step by step.

Run it: `python -m examples.train.compare`
"""

import jax
import jax.numpy as jnp
import numpy as np

from examples.train.one_device import train


def full_products():
    """Return a context of full float32 products; on a CPU, where they are, no other."""
    number = jnp.full((1, 1), 1 + 2.0**-20)
    full = bool((number @ jnp.ones((1, 1)) == number).all())
    return jax.default_matmul_precision(None if full else "highest")


def apart(found, expected):
    """Return the largest differences of losses, and of parameters, over all steps.

    found, expected: iterables of the loss and the parameters of each step.
    """
    losses, params = [], []
    for (loss, ours), (other_loss, theirs) in zip(found, expected, strict=True):
        losses.append(abs(float(loss) - float(other_loss)))
        pairs = [(np.asarray(ours[name]), np.asarray(theirs[name])) for name in ours]
        params.append(max(np.abs(a - b).max() for a, b in pairs))
    return float(np.max(losses)), float(np.max(params))


def main():
    """Print what the order of the examples changes on one device: only rounding does.

    >>> main()
    losses to 1e-03: True, parameters to 1e-02: True
    """
    with full_products():
        backward = train(16, order=np.arange(64)[::-1])
        losses, params = apart(backward, train(16))
    print(f"losses to 1e-03: {losses < 1e-3}, parameters to 1e-02: {params < 1e-2}")


if __name__ == "__main__":
    main()
