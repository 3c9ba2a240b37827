"""Multiply in case 4, and communicate the smaller matrix, whichever it is.

Given `a` `(m, k)`, sharded by rows, and `b` `(k, p)`, sharded by columns, over the mesh
axis "model", return `a @ b`, sharded by rows or by columns. A device sends no more than
it takes to gather the smaller of the two.
"""

import math
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def solution(a, b):
    """Return `a @ b`, sharded as the larger matrix is, which stays where it is."""
    if a.size > b.size:
        return jnp.matmul(a, b, out_sharding=P("model", None))
    return jnp.matmul(a, b, out_sharding=P(None, "model"))


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(a, b): float32 (m, k) sharded by rows and (k, p) sharded by columns, over the
    axis "model", to (m, p), sharded by rows or by columns.
    """
    for count, m, k, p in [(8, 32, 4, 16), (8, 32, 64, 16), (2, 2, 16, 12)]:
        mesh = jax.make_mesh((count,), ("model",), devices=jax.devices()[:count])
        with jax.set_mesh(mesh):
            check_sizes(make, count, m, k, p)
    print("The check passes.")


def check_sizes(make, count, m, k, p):
    """Check `make` for one mesh of `count` devices and one size of a and b."""
    whole_a, whole_b = numbers(m, k), numbers(k, p)
    a = jax.device_put(whole_a, P("model", None))
    b = jax.device_put(whole_b, P(None, "model"))
    found, sizes = make(a, b), f"{(m, k)} @ {(k, p)}"
    assert np.shape(found) == (m, p), (
        f"{sizes} has to come back as {(m, p)}; yours has shape {np.shape(found)}"
    )
    assert np.array_equal(found, whole_a @ whole_b), (
        f"on {count} devices the numbers of {sizes} differ from NumPy's"
    )
    held = {shard.data.shape for shard in found.addressable_shards}
    assert held in ({(m // count, p)}, {(m, p // count)}), (
        f"every device has to keep its rows or its columns of {(m, p)}; "
        f"yours hold shards of shape {held}"
    )
    gathered, least = communicated(make, a, b), min(a.size, b.size)
    assert gathered <= least, (
        f"for {sizes} the collectives need to give each device {least} numbers; "
        f"yours give {gathered}: which of the two is the smaller?"
    )


def communicated(make, a, b):
    """Return how many numbers the collectives of the compiled program give a device."""
    kinds = "all-gather|all-reduce|all-to-all|reduce-scatter|collective-permute"
    text = jax.jit(make).lower(a, b).compile().as_text()
    shapes = re.findall(rf"\[([\d,]*)\]\S* (?:{kinds})(?:-start)?\(", text)
    return sum(math.prod(map(int, shape.split(","))) for shape in shapes)


def numbers(n, k):
    """Return whole numbers, float32 (n, k)."""
    return np.arange(n * k, dtype=np.float32).reshape(n, k) % 5


def mistake_always_gathers_b(a, b):
    """You gathered `b` every time, even where `a` is smaller."""

    def body(a, b):
        return a @ lax.all_gather(b, "model", axis=1, tiled=True)

    specs = P("model", None), P(None, "model")
    return jax.shard_map(body, in_specs=specs, out_specs=P("model", None))(a, b)


def mistake_compares_rows(a, b):
    """You compared `len(a)` and `len(b)`, their rows, instead of their sizes."""
    spec = P("model", None) if len(a) > len(b) else P(None, "model")
    return jnp.matmul(a, b, out_sharding=spec)


def mistake_follows_the_smaller(a, b):
    """You sharded the result like the smaller matrix, so the larger was gathered."""
    spec = P("model", None) if a.size < b.size else P(None, "model")
    return jnp.matmul(a, b, out_sharding=spec)


def mistake_asks_for_all_of_it(a, b):
    """You asked for a replicated product, not for one sharded by rows or columns."""
    return jnp.matmul(a, b, out_sharding=P(None, None))
