"""Say which argument pmap cuts, which it shares, bakes in, or may overwrite.

Why it is hard: `pmap` hands every argument to every device in one of four ways, and the
way that it takes by default, a row for each, is wrong for most of them.
What finishes it: an axis for what is cut, None for what all share, a static number for
what Python needs to know, and a donated number for what you will not need again.

Run it: `python -m examples.pmap.axes_and_arguments`
"""

import jax
import numpy as np


def reference(x, factor, n):
    """Return what the devices compute together: (k, m), () and an int to (k, m)."""
    return factor * x**n


def scaled_power(x, factor, n):
    """Return `factor` times a row to the power n, by n - 1 products in Python."""
    result = x
    for _ in range(n - 1):
        result = result * x
    return factor * result


def model(params, x):
    """Return the output of one layer: {"w": (m, k), "b": (k,)} and (m,) to (k,)."""
    return x @ params["w"] + params["b"]


def rows():
    """Return a row of three whole numbers for each of eight devices: (8, 3)."""
    return np.arange(24, dtype=np.float32).reshape(8, 3) % 7


def main():
    """Cut one argument, share one, and make one a constant.

    >>> main()
    equal to one device: True
    the row is a row on each device: True
    """
    options = {"in_axes": (0, None, None), "static_broadcasted_argnums": 2}
    mapped = jax.pmap(scaled_power, **options)
    found = mapped(rows(), 2.0, 3)
    print(f"equal to one device: {np.array_equal(found, reference(rows(), 2.0, 3))}")
    held = {shard.data.shape for shard in found.addressable_shards}
    print(f"the row is a row on each device: {held == {(1, 3)}}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
