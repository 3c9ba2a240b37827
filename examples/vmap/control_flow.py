"""Branch on a value inside vmap: choose for each lane, and know what all lanes pay.

Why it is hard: `vmap` calls a function once for all lanes, so an `if` finds no single
truth to act on, and what replaces it computes every branch for every lane.
What finishes it: count the branches that ran, the operations and the bytes; keep a
value that no lane may use out of the gradient, too.

Run it: `python -m examples.vmap.control_flow`
"""

from collections import Counter
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from examples.vmap.what_it_does import equations


class Cost(NamedTuple):
    """What a compiled program costs: operations on floats, and bytes of workspace."""

    flops: float
    workspace: int


def reference(n):
    """Return the Collatz step of one whole number, by a plain `if`: () gives ()."""
    if n % 2 == 0:
        return n // 2
    return 3 * n + 1


def by_where(n):
    """Return the Collatz step of `n`, an integer array, by choosing for each number."""
    return jnp.where(n % 2 == 0, n // 2, 3 * n + 1)


def halve(n):
    """Return half of an even `n`, an integer array."""
    return n // 2


def grow(n):
    """Return what follows an odd `n`, an integer array, in a Collatz sequence."""
    return 3 * n + 1


def by_cond(n):
    """Return the Collatz step of one whole number by `lax.cond`: () gives ()."""
    return lax.cond(n % 2 == 0, halve, grow, n)


def whole_step(n):
    """Return the Collatz step of one integer, (); raises TypeError for another type.

    The `if` asks for a type, which Python knows while it traces.
    """
    if n.ndim > 0 or not jnp.issubdtype(n.dtype, jnp.integer):
        raise TypeError(f"one integer is taken, not {n.dtype}{n.shape}")
    return by_where(n)


def branches(way, even, numbers):
    """Return how often each branch of a `lax.cond` runs, mapped in one `way`.

    even: bool (k,) or (), the predicate; numbers: (k,); way(fn)(even, numbers).
    """
    ran = []

    def noted(branch, n):
        jax.debug.callback(lambda _: ran.append(branch.__name__), n)
        return branch(n)

    def fn(even, n):
        return lax.cond(even, partial(noted, halve), partial(noted, grow), n)

    jax.block_until_ready(way(fn)(even, numbers))
    jax.effects_barrier()
    return Counter(ran)


def route(expert, row, weights):
    """Return `row @ weights[expert]`, each expert a branch.

    expert: int (); row: (k,); weights: (experts, k, k); the answer: (k,).
    """
    return lax.switch(expert, [lambda row, w=w: row @ w for w in weights], row)


def pick(expert, row, weights):
    """Return what `route` returns, by choosing among the answers of all experts."""
    return jnp.stack([row @ w for w in weights])[expert]


def by_group(expert, rows, weights):
    """Return `route` of all rows, (m, k): each expert gets its rows, and no others.

    expert: NumPy int (m,); it is read on the host, so this cannot be under `jit`.
    """
    answers = np.empty_like(rows)
    for one in np.unique(expert):
        mine = expert == one
        answers[mine] = shared(one, rows[mine], weights)
    return answers


def shared(expert, rows, weights):
    """Return `route` of all rows, (m, k), with one expert, (), for all of them."""
    return jax.vmap(route, in_axes=(None, 0, None))(expert, rows, weights)


def rows_and_experts(rows=64, size=256, experts=4):
    """Return expert (m,), rows (m, k) and weights (e, k, k), of small whole numbers."""
    expert = np.arange(rows) % experts
    x = np.arange(rows * size, dtype=np.float32).reshape(rows, size) % 7
    weights = np.arange(experts * size**2, dtype=np.float32) % 5
    return expert, x, weights.reshape(experts, size, size)


def cost(fn, *args):
    """Compile `fn` for `args`, without running it, and return its Cost."""
    compiled = jax.jit(fn).lower(*args).compile()
    flops = compiled.cost_analysis()["flops"]
    return Cost(flops, compiled.memory_analysis().temp_size_in_bytes)


def primitives(fn, *args):
    """Return how often each primitive is in the jaxpr of `fn`, however deep."""
    return Counter(e.primitive.name for e in equations(jax.make_jaxpr(fn)(*args)))


def root(x):
    """Return the square root of a positive `x`, and 0 for others: () gives ()."""
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)


def guarded_root(x):
    """Return what `root` returns; the branch never sees an `x` it cannot take."""
    safe = jnp.where(x > 0, x, 1.0)
    return jnp.where(x > 0, jnp.sqrt(safe), 0.0)


def cond_root(x):
    """Return what `root` returns, by `lax.cond`."""
    return lax.cond(x > 0, jnp.sqrt, jnp.zeros_like, x)


def main():
    """Step a batch of numbers, count branches and operations, take three gradients.

    >>> main()
    (8,) gives (8,), by where and by cond: True
    under vmap every lane runs both branches: True
    four experts cost four times one: True
    grouped rows get the same answers: True
    the gradient of the plain where is finite: False
    the gradient of the guarded where is finite: True
    """
    numbers = np.arange(1, 9)
    steps = [reference(int(n)) for n in numbers]
    ways = [jax.vmap(fn)(numbers) for fn in (by_where, by_cond)]
    assert all(np.array_equal(way, steps) for way in ways)
    print(f"{numbers.shape} gives {ways[0].shape}, by where and by cond: True")

    ran = branches(jax.vmap, numbers % 2 == 0, numbers)
    expert, rows, weights = rows_and_experts()
    mapped = jax.vmap(route, in_axes=(0, 0, None))
    one = cost(shared, expert[0], rows, weights)
    ratio = cost(mapped, expert, rows, weights).flops / one.flops
    x = np.array([-1, 0, 1, 4], np.float32)
    plain, guarded = (jax.vmap(jax.grad(fn))(x) for fn in (root, guarded_root))
    grouped = by_group(expert, rows, weights)
    claims = {
        "under vmap every lane runs both branches": set(ran.values()) == {8},
        "four experts cost four times one": round(ratio) == 4,
        "grouped rows get the same answers": np.array_equal(
            grouped, mapped(expert, rows, weights)
        ),
        "the gradient of the plain where is finite": np.isfinite(plain).all(),
        "the gradient of the guarded where is finite": np.isfinite(guarded).all(),
    }
    for claim, holds in claims.items():
        assert holds != ("plain" in claim), claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    main()
