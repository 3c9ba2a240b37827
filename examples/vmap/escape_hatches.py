"""Map what vmap cannot rewrite: code on the host, and functions with a better rule.

Why it is hard: `vmap` needs a rule for every operation. A call back to NumPy has none,
and the automatic rule of a `cond` computes both branches for every row.
What finishes it: say what a batch means. `pure_callback(vmap_method=)` says what the
host gets, `sequential_vmap` asks for a loop, and `custom_vmap` takes a rule of yours.

Run it: `python -m examples.vmap.escape_hatches`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_batching import custom_vmap, sequential_vmap


def reference(rows, table):
    """Return `mend_by_cond` of each row, (m, n), by a plain Python loop."""
    return jnp.stack([mend_by_cond(row, table) for row in rows])


def weighed(method, rows, weights):
    """Return the weighted sum of each row, by NumPy, and the shapes of each call."""
    seen = []

    def weigh(*args):
        row, weights = map(np.asarray, args)
        seen.append((row.shape, weights.shape))
        return (row * weights).sum(axis=-1)  # right for any leading axes

    def call(row, weights):
        number = jax.ShapeDtypeStruct((), jnp.float32)
        return jax.pure_callback(weigh, number, row, weights, vmap_method=method)

    sums = jax.vmap(call, in_axes=(0, None))(rows, weights)
    return jax.block_until_ready(sums), seen


def shares(method):
    """Return a function from a row, (n,), to its shares of the sum, by NumPy."""

    def divide(row):
        row = np.asarray(row)
        return row / row.sum()  # of all that it gets

    return lambda row: jax.pure_callback(divide, row, row, vmap_method=method)


def mend_by_cond(row, table):
    """Return a row, (n,), or its product with `table` if any number is negative."""
    return lax.cond((row < 0).any(), lambda: row @ table, lambda: row)


def mend_rows(axis_size, in_batched, rows, table):
    """Mend a batch in one product, and in none when no row needs it."""
    if in_batched != [True, False]:  # here only rows of one table are special
        axes = [0 if batched else None for batched in in_batched]
        every = jax.vmap(mend_by_cond, in_axes=axes, axis_size=axis_size)
        return every(rows, table), True
    bad = (rows < 0).any(axis=1)

    def product():
        return jnp.where(bad[:, None], rows @ table, rows)

    return lax.cond(bad.any(), product, lambda: rows), True


def with_rule(f, rule):
    """Return `f` as a function that `vmap` maps by `rule`, for one batched axis."""
    ruled = custom_vmap(f)
    ruled.def_vmap(rule)  # or, as a decorator of the rule: @ruled.def_vmap
    return ruled


def with_gradient(f, slope):
    """Return `f` with a gradient: `slope(x, ct)`, at x, for the gradient ct above."""
    smooth = jax.custom_vjp(f)
    smooth.defvjp(lambda x: (f(x), x), lambda x, ct: (slope(x, ct),))
    return smooth


def sines(axis_size, in_batched, x):
    """Return the sines of a batch: a routine of your own would go here."""
    return jnp.sin(x), in_batched[0]


def sine_slope(x, ct):
    """Return the gradient of the sine at x, for the gradient `ct` of its result."""
    return jnp.cos(x) * ct


def sine_slopes(axis_size, in_batched, x, ct):
    """Return these gradients for a batch: again, a routine of your own."""
    return jnp.cos(x) * ct, True


@sequential_vmap
def mend_in_turn(row, table):
    """Return what `mend_by_cond` does; `vmap` makes a loop of it, row after row."""
    return mend_by_cond(row, table)


def batch():
    """Return rows, (4, 3), of which one is negative, and a table, (3, 3)."""
    rows = jnp.arange(12.0).reshape(4, 3)
    return rows.at[2].multiply(-1), jnp.ones((3, 3))


def main():
    """Map a host function, a mended row and a sine, and compare with loops.

    >>> main()
    one call of the host for four rows: True
    mended rows equal the loop's, in one batch and in turn: True
    both orders of grad and vmap give the cosine: True
    """
    rows, table = batch()
    mend = with_rule(mend_by_cond, mend_rows)
    sine, slope = with_rule(jnp.sin, sines), with_rule(sine_slope, sine_slopes)
    smooth_sine = with_gradient(sine, slope)
    sums, seen = weighed("broadcast_all", rows, table[0])
    angles = jnp.arange(4.0)
    expected = reference(rows, table)
    claims = {
        "one call of the host for four rows": (
            np.array_equal(sums, rows.sum(axis=1)) and seen == [((4, 3), (4, 3))]
        ),
        "mended rows equal the loop's, in one batch and in turn": all(
            np.array_equal(jax.vmap(f, in_axes=(0, None))(rows, table), expected)
            for f in (mend, mend_in_turn)
        ),
        "both orders of grad and vmap give the cosine": all(
            np.array_equal(slopes, jnp.cos(angles))
            for slopes in (
                jax.vmap(jax.grad(smooth_sine))(angles),
                jax.grad(lambda x: jax.vmap(smooth_sine)(x).sum())(angles),
            )
        ),
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    main()
