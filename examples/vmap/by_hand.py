"""Compare `vmap` with the same function batched by hand: results, and programs.

Both return the same numbers, and compiled programs of equal functions differ in their
names alone. So the names are numbered as they appear, and the texts compared.

Run it: `python -m examples.vmap.by_hand`
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from examples.vmap.what_it_does import equations, normalized


class Pair(NamedTuple):
    """A function mapped by vmap, the same one batched by hand, and their arguments."""

    mapped: Callable
    hand: Callable
    args: tuple


def numbers(*shape):
    """Return whole numbers from -1 to 1, float32 of `shape`, the same in each run."""
    drawn = np.random.default_rng(0).integers(-1, 2, shape)
    return drawn.astype(np.float32)


def dot(x, y):
    """Return the dot product of two rows: (n,) and (n,) give ()."""
    return x @ y


def dots(x, y):
    """Return the dot product of each pair of rows: (m, n) and (m, n) give (m,)."""
    return jnp.einsum("ri,ri->r", x, y)


def chain(x, a, b):
    """Return one row times two matrices: (n,), (n, k) and (k, l) give (l,)."""
    return x @ a @ b


def chains(x, a, b):
    """Return all rows times two matrices: (m, n), (n, k) and (k, l) give (m, l)."""
    return x @ a @ b


def norm(x):
    """Return one row, (n,), with mean 0 and variance 1."""
    centered = x - x.mean()
    return centered * lax.rsqrt((centered**2).mean() + 1e-5)


def norms(x):
    """Return each row of (m, n) with mean 0 and variance 1."""
    centered = x - x.mean(axis=1, keepdims=True)
    return centered * lax.rsqrt((centered**2).mean(axis=1, keepdims=True) + 1e-5)


def attention(q, k, v):
    """Return the attention of one sequence: three of (s, n) give (s, n)."""
    return jax.nn.softmax(q @ k.T) @ v


def attentions(q, k, v):
    """Return the attention of each sequence: three of (m, s, n) give (m, s, n)."""
    weights = jax.nn.softmax(jnp.einsum("rqi,rki->rqk", q, k))
    return jnp.einsum("rqk,rki->rqi", weights, v)


def convolution(image, kernel):
    """Return one image convolved: (h, w, c) and (a, b, c, d) give (h, w, d)."""
    return convolutions(image[None], kernel)[0]


def convolutions(image, kernel):
    """Return all images convolved: (m, h, w, c) and (a, b, c, d) give (m, h, w, d)."""
    layout = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(
        image, kernel, (1, 1), "SAME", dimension_numbers=layout
    )


def loss(weights, x, y):
    """Return the squared error of two layers: of a row, and of a batch the sum."""
    a, b = weights
    return ((jax.nn.relu(x @ a) @ b - y) ** 2).sum()


def summed_loss(weights, x, y):
    """Return the sum of the losses of all rows, each of them made by `loss`."""
    return jax.vmap(loss, in_axes=(None, 0, 0))(weights, x, y).sum()


def backward(weights, x, y):
    """Return the gradients of `loss`, a row each: backpropagation written out."""
    a, b = weights
    hidden = jax.nn.relu(x @ a)
    error = 2 * (hidden @ b - y)
    before = jnp.where(hidden > 0, error @ b.T, 0)
    return jnp.einsum("ri,rh->rih", x, before), jnp.einsum("rh,ro->rho", hidden, error)


def form(x, w):
    """Return the quadratic form of a row: (n,) and (n, n) give ()."""
    return x @ w @ x


def forms(x, w):
    """Return the quadratic form of each row: (m, n) and (n, n) give (m,)."""
    return jnp.einsum("ri,ij,rj->r", x, w, x)


def pick(x, i):
    """Return entry i of a row: (n,) and () give ()."""
    return x[i]


def picks(x, i):
    """Return an entry of each row: (m, n) and (m,) give (m,)."""
    return jnp.take_along_axis(x, i[:, None], axis=1)[:, 0]


def pairs(rows=64):
    """Return `{name: Pair}`: nine functions and small batches of whole numbers."""
    x, y, i = numbers(rows, 32), numbers(rows, 32)[::-1], np.arange(rows) % 32
    a, b, kernel = numbers(32, 48), numbers(48, 32), numbers(3, 3, 4, 8)
    images, sequence = numbers(rows, 16, 16, 4), numbers(rows, 16, 32)
    shared, mlp = (0, None), ((a, b), x, y)
    each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))
    return {
        "dot": Pair(jax.vmap(dot), dots, (x, y)),
        "matmul chain": Pair(jax.vmap(chain, (0, None, None)), chains, (x, a, b)),
        "layer norm": Pair(jax.vmap(norm), norms, (x,)),
        "attention": Pair(jax.vmap(attention), attentions, (sequence,) * 3),
        "convolution": Pair(
            jax.vmap(convolution, shared), convolutions, (images, kernel)
        ),
        "gradient of the sum": Pair(jax.grad(summed_loss), jax.grad(loss), mlp),
        "gradient per row": Pair(each, backward, mlp),
        "quadratic form": Pair(jax.vmap(form, shared), forms, (x, a[:, :32])),
        "indexing": Pair(jax.vmap(pick), picks, (x, i)),
    }


class Programs(NamedTuple):
    """Both functions of a `Pair`, compiled."""

    mapped: jax.stages.Compiled
    hand: jax.stages.Compiled


def compiled(pair):
    """Return the `Programs` of a pair; their arguments have no names."""

    def program(fn):
        return jax.jit(lambda *args: fn(*args)).lower(*pair.args).compile()

    return Programs(program(pair.mapped), program(pair.hand))


def text(program):
    """Return optimized HLO with the names in it numbered as they appear."""
    names = {}
    return re.sub(
        r"%([\w.-]+)|\b([\w.-]+)(?=: \w+\[)",
        lambda found: names.setdefault(found[1] or found[2], f"%{len(names)}"),
        normalized(program),
    )


def same_numbers(programs, args):
    """Return whether both `Programs` return the same, to the last bit."""
    results = [program(*args) for program in programs]
    return all(jax.tree.leaves(jax.tree.map(np.array_equal, *results)))


def only(programs):
    """Return the lines of HLO that only `mapped` has, and those only `hand` has."""
    lines = [[line.strip() for line in text(p).splitlines()] for p in programs]
    mapped, hand = lines
    return [x for x in mapped if x not in hand], [x for x in hand if x not in mapped]


def factored(fn, *args):
    """Return the shapes of the matrices that `fn` splits into triangles (LU)."""
    found = equations(jax.make_jaxpr(fn)(*args))
    return [e.invars[0].aval.shape for e in found if e.primitive.name == "lu"]


def main():
    """Print of which functions the two programs are equal.

    >>> main()
    equal: dot, matmul chain, layer norm, attention, convolution, gradient of the sum
    not equal: gradient per row, quadratic form, indexing
    """
    both = {name: compiled(pair) for name, pair in pairs().items()}
    equal = [
        name for name, (mapped, hand) in both.items() if text(mapped) == text(hand)
    ]
    print("equal:", ", ".join(equal))
    print("not equal:", ", ".join(name for name in both if name not in equal))


if __name__ == "__main__":
    main()
