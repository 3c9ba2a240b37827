"""Map over the axis you mean: arrays, dicts, keyword arguments and lists of models.

Why it is hard: `vmap` counts axes of whole arrays, your function sees them without the
mapped one, and where lengths happen to agree a wrong axis gives wrong numbers quietly.
What finishes it: the loop that `in_axes` and `out_axes` stand for, to compare with, and
an example in which each axis has a length of its own.

Run it: `python -m examples.vmap.axes`
"""

import math

import jax
import jax.numpy as jnp
from jax import lax


def reference(fn, in_axes, out_axes=0):
    """Return `fn` mapped by a loop; each array has its entry in `in_axes`."""

    def mapped(*arrays):
        pairs = list(zip(arrays, in_axes, strict=True))
        [size] = {x.shape[axis] for x, axis in pairs if axis is not None}
        results = []
        for i in range(size):
            row = [x if axis is None else jnp.take(x, i, axis) for x, axis in pairs]
            results.append(fn(*row))
        return jnp.stack(results, out_axes)

    return mapped


def layer(x, w, b):
    """Return the outputs for one input: (n,), (n, k) and (k,) give (k,)."""
    return jnp.dot(x, w) + b


def model(params, x):
    """Return `layer` of one input, with w and b from a dict: (n,) gives (k,)."""
    return layer(x, params["w"], params["b"])


def describe(x, w):
    """Return facts on one input and w: (n,) and any w give (n,) and three scalars."""
    ends = {"low": x.min(), "high": x.max()}
    return {"row": x, "ends": ends, "weight": w.sum()}


def share_mean(x):
    """Return the mean of all inputs, of the shape of one; needs an axis "batch"."""
    return lax.pmean(x, "batch")


def stack(trees):
    """Return one tree for a list of them: each leaf gets an axis in front, (m, ...).

    All trees need the same structure, and equal shapes in equal places.
    """
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def unstack(tree):
    """Return the list of trees that `stack` was given."""
    leaves, structure = jax.tree.flatten(tree)
    return [structure.unflatten(row) for row in zip(*leaves, strict=True)]


def numbers(*shape):
    """Return the whole numbers from 0 upward, as a float32 array of this shape."""
    return jnp.arange(math.prod(shape), dtype=jnp.float32).reshape(shape)


def models(count=4):
    """Return a list of parameters for `model`: dicts of w, (3, 2), and b, (2,)."""
    return unstack({"w": numbers(count, 3, 2), "b": numbers(count, 2)})


def main():
    """Map rows, columns, results and a list of models; compare each with a loop.

    >>> main()
    five rows, one w, one b: (5, 2), as the loop gives: True
    five columns, results in columns: (2, 5), as the loop gives: True
    four models, one input: (4, 2), as the loop gives: True
    """
    xs, w, b = numbers(5, 3), numbers(3, 2), numbers(2)
    four = models(4)
    by_rows, by_columns = (0, None, None), (1, None, None)
    answers = {
        "five rows, one w, one b": (
            jax.vmap(layer, in_axes=by_rows)(xs, w, b),
            reference(layer, by_rows)(xs, w, b),
        ),
        "five columns, results in columns": (
            jax.vmap(layer, in_axes=by_columns, out_axes=1)(xs.T, w, b),
            reference(layer, by_columns, 1)(xs.T, w, b),
        ),
        "four models, one input": (
            jax.vmap(model, in_axes=(0, None))(stack(four), xs[0]),
            jnp.stack([model(params, xs[0]) for params in four]),
        ),
    }
    for name, (found, expected) in answers.items():
        equal = jnp.array_equal(found, expected)
        assert equal, name
        print(f"{name}: {found.shape}, as the loop gives: {equal}")


if __name__ == "__main__":
    main()
