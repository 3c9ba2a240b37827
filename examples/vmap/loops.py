"""Batch a loop whose lanes end at different times, and get the idle work back.

Why it is hard: under `vmap` a `while_loop` is one loop for all lanes, which runs until
the slowest is done; the answers are right, so nothing tells you what it costs.
What finishes it: count how often the body runs, lane by lane, and let few lanes wait
for each other: in sorted chunks, in rounds, one by one, or on devices of their own.

Run it: `python -m examples.vmap.loops`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.experimental import io_callback

FOREVER = np.int32(2**31 - 1)  # more steps than anyone waits for


def reference(n):
    """Return how many Collatz steps take a positive Python int to 1."""
    count = 0
    while n != 1:
        n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
    return count


def by_where(n):
    """Return the Collatz step of `n`, an integer array, by choosing for each number."""
    return jnp.where(n % 2 == 0, n // 2, 3 * n + 1)


def run(n, count, limit=FOREVER, tick=None):
    """Step `n` until it is 1 or `count` is `limit`; return both, int32 () and ()."""

    def unfinished(state):
        n, count = state
        return (n != 1) & (count < limit)

    def advance(state):
        n, count = state
        if tick:
            jax.debug.callback(tick, n)
        return by_where(n), count + 1

    return lax.while_loop(unfinished, advance, (n, count))


def steps(n, limit=FOREVER, tick=None):
    """Return how many steps, at most `limit`, take `n` to 1: int32 () gives ().

    tick: called on the host with each `n` for which the body of the loop runs.
    """
    return run(n, jnp.zeros_like(n), limit, tick)[1]


def noted(n):
    """Return how often `n`, int32 (), can be halved, noting each half on the host."""

    def halve(state):
        n, count = state
        io_callback(lambda _: None, None, n)
        return n // 2, count + 1

    return lax.while_loop(lambda state: state[0] > 1, halve, (n, jnp.zeros_like(n)))[1]


def in_chunks(fn, size):
    """Return `fn` mapped in chunks of `size` lanes: one chunk ends, the next starts."""
    return lambda numbers: lax.map(fn, numbers, batch_size=size)


def in_sorted_chunks(fn, size, guess):
    """Return `fn` mapped in chunks of lanes that are guessed to take equally long.

    guess: (m,), larger for a lane that takes longer; the answers keep their order.
    """
    order = np.argsort(guess)
    back = np.argsort(order)
    return lambda numbers: in_chunks(fn, size)(numbers[order])[back]


def in_rounds(numbers, length=16, tick=None):
    """Return the steps of `numbers`, NumPy int32 (m,), in rounds of `length` steps.

    After each round the host keeps the lanes that are not done.
    """
    one_round = jax.jit(jax.vmap(partial(run, tick=tick), in_axes=(0, 0, None)))
    n, count, limit = numbers.copy(), np.zeros_like(numbers), 0
    while (left := np.flatnonzero(n != 1)).size:
        limit += length
        ended = one_round(filled(n[left]), filled(count[left]), limit)
        n[left], count[left] = (np.asarray(part)[: left.size] for part in ended)
    return count


def filled(lanes):
    """Return `lanes`, NumPy (k,), and ones, which need no step, up to a power of two.

    So there are few shapes, and `jit` compiles few programs.
    """
    size = 1 << (len(lanes) - 1).bit_length()
    return np.pad(lanes, (0, size - len(lanes)), constant_values=1)


def on_devices(fn, mesh):
    """Return `fn` mapped over lanes that are split over `mesh`, a loop on each device.

    The lanes, (m,), are split over "rows", and so are the answers.
    """
    mapped, rows = jax.vmap(fn), P("rows")
    return jax.jit(jax.shard_map(mapped, mesh=mesh, in_specs=rows, out_specs=rows))


def lane_steps(way, numbers):
    """Return how often the body runs, counting each lane, and the answers, (m,).

    way: takes `tick` and returns the function that maps `numbers`.
    """
    ran = []
    answers = jax.block_until_ready(way(ran.append)(numbers))
    jax.effects_barrier()
    return len(ran), answers


def ways(guess, size=4):
    """Return `{name: way}` for `lane_steps`; `guess` sorts the lanes, (m,)."""
    ticking = partial(partial, steps)
    return {
        "vmap": lambda tick: jax.vmap(ticking(tick=tick)),
        "chunks": lambda tick: in_chunks(ticking(tick=tick), size),
        "sorted": lambda tick: in_sorted_chunks(ticking(tick=tick), size, guess),
        "rounds": lambda tick: partial(in_rounds, tick=tick),
        "lax.map": lambda tick: partial(lax.map, ticking(tick=tick)),
    }


def main():
    """Count the steps of 32 numbers in five ways, and the lanes that were computed.

    >>> main()
    (32,) gives (32,)
    vmap computes every lane as long as the slowest: True
    lax.map computes no lane that is done: True
    vmap > chunks > rounds > sorted > lax.map: True
    a lane that never ends is stopped: True
    """
    numbers = np.arange(1, 33, dtype=np.int32)
    expected = np.array([reference(int(n)) for n in numbers])
    ran = {}
    for name, way in ways(guess=expected).items():
        ran[name], answers = lane_steps(way, numbers)
        assert np.array_equal(answers, expected), name
    print(f"{numbers.shape} gives {answers.shape}")
    order = "vmap", "chunks", "rounds", "sorted", "lax.map"
    endless = jax.vmap(partial(steps, limit=200))(numbers - 1)
    claims = {
        "vmap computes every lane as long as the slowest": ran["vmap"]
        == numbers.size * expected.max(),
        "lax.map computes no lane that is done": ran["lax.map"] == expected.sum(),
        " > ".join(order): sorted(ran, key=ran.get, reverse=True) == list(order),
        "a lane that never ends is stopped": endless[0] == 200 > endless[1:].max(),
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    main()
