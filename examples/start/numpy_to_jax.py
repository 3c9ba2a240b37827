"""Move a NumPy function to JAX: rename its calls, then look for what changed unsaid.

Why it is hard: `jax.numpy` has NumPy's names, so a port that only renames them runs,
and where JAX means something else by a name, nothing tells you.
What finishes it: keep the NumPy function, and compare both on the cases at the edge:
an index past the end, numbers near 2**31, input in no order.

Run it: `python -m examples.start.numpy_to_jax`
"""

import jax.numpy as jnp
import numpy as np


def reference(offers, i):
    """Return half-way from the i-th cheapest offer to the next, or 0 without a next.

    offers: whole numbers, (n,), below 2**31; i: an int, 0 or more.
    """
    offers = np.array(offers, dtype=int)
    offers.sort()
    try:
        return (offers[i] + offers[i + 1]) // 2
    except IndexError:
        return 0


def renamed(offers, i):
    """Return what `reference` returns, or so you would think: `np` became `jnp`."""
    offers = jnp.array(offers, dtype=int)
    offers.sort()
    try:
        return (offers[i] + offers[i + 1]) // 2
    except IndexError:
        return 0


def edges():
    """Return `{name: (offers, i)}`, an easy case and three at the edges."""
    return {
        "in order": ([2, 6, 8], 0),
        "no order": ([8, 2, 6], 0),
        "past the end": ([2, 6, 8], 2),
        "large": ([2**31 - 3, 2**31 - 1], 0),
    }


def differences(old, new):
    """Return `{name: (old's answer, new's answer)}` for the edges where they differ."""
    answers = {
        name: (int(old(*case)), int(new(*case))) for name, case in edges().items()
    }
    return {name: pair for name, pair in answers.items() if pair[0] != pair[1]}


def main():
    """Run the renamed function: it raises nothing, and is right in the easy case only.

    >>> main()
    no order: 4 became 5
    past the end: 0 became 8
    large: 2147483646 became -2
    """
    for name, (old, new) in differences(reference, renamed).items():
        print(f"{name}: {old} became {new}")


if __name__ == "__main__":
    main()
