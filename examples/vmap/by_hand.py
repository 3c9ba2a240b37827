"""Hold `vmap` against the same function batched by hand: numbers, program, time.

Why it is hard: both return the same numbers, timings of equal programs differ all the
same, and compiled programs of equal functions differ in their names alone.
What finishes it: number the names, then compare the texts, program by program; time
what is left, and what you know about the rows that no compiler can find out.

Run it: `python -m examples.vmap.by_hand`
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from examples.jit.ordering import program
from examples.vmap.what_it_does import equations


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


def pairs(rows=256):
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


class Same(NamedTuple):
    """Whether two functions return the same, to the last bit, by the same program."""

    numbers: bool
    program: bool


def compare(pair):
    """Return in what the two functions of a `Pair` are the `Same`."""
    both = pair.mapped, pair.hand
    answers = [jax.jit(fn)(*pair.args) for fn in both]
    numbers = all(jax.tree.leaves(jax.tree.map(np.array_equal, *answers)))
    return Same(numbers, program(both[0], *pair.args) == program(both[1], *pair.args))


def only(pair):
    """Return the lines of HLO that only `mapped` has, and those only `hand` has."""
    texts = [program(fn, *pair.args).splitlines() for fn in (pair.mapped, pair.hand)]
    mapped, hand = ([line.strip() for line in text] for text in texts)
    return [x for x in mapped if x not in hand], [x for x in hand if x not in mapped]


def calls(pairs):
    """Return `{(name, which): call}`, compiled, with arguments on the device."""
    found = {}
    for name, pair in pairs.items():
        args = jax.device_put(pair.args)
        found[name, "vmap"] = partial(jax.jit(pair.mapped), *args)
        found[name, "hand"] = partial(jax.jit(pair.hand), *args)
    return found


def table(found, timings):
    """Return `{name: Same}` and the `Timing`s of `calls` as lines of text.

    The last columns are the time of vmap as a multiple of the time by hand: the
    medians', and the quartiles' at their worst for either.
    """
    line = "{:<21}{:<9}{:<9}{:>5}  {}".format
    lines = [line("", "numbers", "program", "time", "quartiles")]
    for name, same in found.items():
        vmap, hand = timings[name, "vmap"], timings[name, "hand"]
        words = ["equal" if part else "differs" for part in same]
        spread = f"{vmap.low / hand.high:.2f} to {vmap.high / hand.low:.2f}"
        lines.append(line(name, *words, f"{vmap.median / hand.median:.2f}", spread))
    return "\n".join(lines)


def gradient_sizes(w, x, y):
    """Return the squared length of each row's gradient of `((x @ w - y) ** 2).sum()`.

    (n, k), (m, n) and (m, k) give (m,).
    """
    gradient = jax.grad(lambda w, x, y: ((x @ w - y) ** 2).sum())
    return jax.vmap(lambda x, y: (gradient(w, x, y) ** 2).sum())(x, y)


def gradient_sizes_by_hand(w, x, y):
    """Return the same without a gradient: row by row it is `outer(x, 2 * error)`.

    The length of an outer product is the product of the lengths
    (Goodfellow, "Efficient Per-Example Gradient Computations", arXiv:1510.01799).
    """
    error = 2 * (x @ w - y)
    return (x**2).sum(axis=1) * (error**2).sum(axis=1)


def factored(fn, *args):
    """Return the shapes of the matrices that `fn` splits into triangles (LU)."""
    found = equations(jax.make_jaxpr(fn)(*args))
    return [e.invars[0].aval.shape for e in found if e.primitive.name == "lu"]


def main():
    """Compare nine functions, and one that knows its algebra.

    >>> main()
    vmap and the hand return the same numbers, of 9 functions: True
    they compile to the same program, of 6 functions: True
    row lengths without gradients: (8,), equal: True
    """
    found = {name: compare(pair) for name, pair in pairs().items()}
    w, x, y = numbers(5, 3), numbers(8, 5), numbers(8, 3)
    sizes = gradient_sizes_by_hand(w, x, y)
    same_sizes = np.array_equal(sizes, gradient_sizes(w, x, y))
    equal = sum(same.program for same in found.values())
    claims = {
        f"vmap and the hand return the same numbers, of {len(found)} functions": all(
            same.numbers for same in found.values()
        ),
        f"they compile to the same program, of {equal} functions": equal == 6,
        f"row lengths without gradients: {sizes.shape}, equal": same_sizes,
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    main()
