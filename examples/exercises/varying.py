"""Find the lowest balance of each ledger, and of all of them, and prove both outputs.

Every device holds `k` amounts of a ledger that starts at zero. Return the lowest
balance of each ledger, (devices,), split over "rows", and the lowest of all, (), the
same on every device. A ledger that never falls below zero has the lowest balance zero.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.vmap.what_it_does import equations

ROWS = P("rows")


def over(mesh, body, **options):
    """Return `body` over the mesh: a split output, and one that all devices share."""
    specs = {"in_specs": ROWS, "out_specs": (ROWS, P())}
    return jax.jit(jax.shard_map(body, mesh=mesh, **specs, **options))


def book(carry, amount):
    """Take one amount: (balance, lowest) and an amount give (balance, lowest)."""
    balance = carry[0] + amount
    return (balance, jnp.minimum(carry[1], balance)), None


def solution(mesh):
    """Return the function: a carry that varies, and a `pmin` for what is shared."""

    def body(amounts):
        start = lax.pcast((0.0, 0.0), "rows", to="varying")
        (_, low), _ = lax.scan(book, start, amounts)
        return low[None], lax.pmin(low, "rows")

    return over(mesh, body)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(mesh) returns a function: amounts (devices k,) give (devices,) and ().
    """
    mesh = jax.make_mesh((8,), ("rows",))
    lows = make(mesh)
    assert callable(lows), "make(mesh) returns a function: amounts give two outputs"
    ledgers = np.arange(48, dtype=np.float32).reshape(8, 6) * 7 % 15 - 6
    for amounts in (ledgers, ledgers[::-1], np.abs(ledgers)):
        placed = jax.device_put(amounts.reshape(-1), NamedSharding(mesh, ROWS))
        each, least = lows(placed)
        expected = np.cumsum(amounts, axis=1).min(axis=1).clip(max=0)
        assert np.array_equal(each, expected), (
            f"the lowest balances are {expected.tolist()}; "
            f"yours are {np.asarray(each).tolist()}"
        )
        assert each.sharding.spec == ROWS, "each device keeps its own lowest balance"
        held = [float(shard.data) for shard in least.addressable_shards]
        assert set(held) == {expected.min()}, (
            f"every device has to hold the lowest of all, {expected.min()}; "
            f"yours hold {held}"
        )
    program = list(equations(jax.make_jaxpr(lows)(placed).jaxpr))
    maps = [e.params for e in program if e.primitive.name == "shard_map"]
    assert maps and all(params["check_vma"] for params in maps), (
        "the numbers are right, but nothing proves it: leave the check on"
    )


def mistake_believes_the_hint(mesh):
    """Take the advice of the message about replication, and switch the check off."""

    def body(amounts):
        (_, low), _ = lax.scan(book, (0.0, 0.0), amounts)
        return low[None], low

    return over(mesh, body, check_vma=False)


def mistake_switches_off_the_check(mesh):
    """Get the numbers right, and the loop through by `check_vma=False`."""

    def body(amounts):
        (_, low), _ = lax.scan(book, (0.0, 0.0), amounts)
        return low[None], lax.pmin(low, "rows")

    return over(mesh, body, check_vma=False)


def mistake_adds(mesh):
    """Reach for `psum`, since it makes a value the same on all devices."""

    def body(amounts):
        start = lax.pcast((0.0, 0.0), "rows", to="varying")
        (_, low), _ = lax.scan(book, start, amounts)
        return low[None], lax.psum(low, "rows")

    return over(mesh, body)


def mistake_shares_the_carry(mesh):
    """Make both sides of the carry agree by a collective in every step."""

    def step(carry, amount):
        (balance, low), _ = book(carry, amount)
        return (lax.pmin(balance, "rows"), lax.pmin(low, "rows")), None

    def body(amounts):
        (_, low), _ = lax.scan(step, (0.0, 0.0), amounts)
        return low[None], low

    return over(mesh, body)
