"""Map a function over all pairs of two batches, or over all triples of three.

Why it is hard: each `vmap` takes one axis away and puts one back, and the numbers are
right in any order of the two; only the axes of the result tell.
What finishes it: read from the outside in. The outermost `vmap` owns the first axis of
the result, and its `in_axes` says which argument that axis comes from.

Run it: `python -m examples.nested.vmap_in_vmap`
"""

import jax
import jax.numpy as jnp
from jax import lax


def reference(fn, xs, ys):
    """Return `fn(x, y)` for all rows x of `xs` and y of `ys`, by a loop in a loop."""
    return jnp.stack([jnp.stack([fn(x, y) for y in ys]) for x in xs])


def all_pairs(fn):
    """Map `fn` over all pairs of rows: (m, ...) and (n, ...) give (m, n, ...)."""
    with_every_y = jax.vmap(fn, in_axes=(None, 0))
    return jax.vmap(with_every_y, in_axes=(0, None))


def all_triples(fn):
    """Map `fn` over all triples of rows: (m, ...), (n, ...), (p, ...) to (m, n, p)."""
    with_every_z = jax.vmap(fn, in_axes=(None, None, 0))
    with_every_y = jax.vmap(with_every_z, in_axes=(None, 0, None))
    return jax.vmap(with_every_y, in_axes=(0, None, None))


def squared_distance(x, y):
    """Return how far two points are apart, squared: (k,) and (k,) give ()."""
    return ((x - y) ** 2).sum()


def dot(x, y):
    """Return the dot product of two rows: (k,) and (k,) give ()."""
    return x @ y


def common(x, y, z):
    """Return the sum of products of three rows: (k,), (k,) and (k,) give ()."""
    return (x * y * z).sum()


def points():
    """Return two sets of points with whole coordinates, (4, 2) and (3, 2) float32."""
    return jnp.arange(8.0).reshape(4, 2) % 5, jnp.arange(6.0).reshape(3, 2) % 4


def totals(x):
    """Return the sums of `x` over "rows", over "inner" and over both."""
    return lax.psum(x, "rows"), lax.psum(x, "inner"), lax.psum(x, ("rows", "inner"))


def main():
    """Map over pairs and triples, and compare them with loops and with einsum.

    >>> main()
    (4, 2) and (3, 2) give (4, 3)
    all pairs equal the loop: True
    all triples equal the einsum: True
    """
    a, b = points()
    distances = all_pairs(squared_distance)(a, b)
    print(f"{a.shape} and {b.shape} give {distances.shape}")
    equal = bool((distances == reference(squared_distance, a, b)).all())
    print(f"all pairs equal the loop: {equal}")
    triples = jnp.einsum("ik,jk,lk->ijl", a, b, a)
    equal = bool((all_triples(common)(a, b, a) == triples).all())
    print(f"all triples equal the einsum: {equal}")


if __name__ == "__main__":
    main()
