"""Count the months until each loan of a batch is paid off.

The loans are sharded over eight devices: `balances`, `rates` a month and `payments` a
month, float32 (n,). In each month the balance grows by its rate and falls by the
payment, as long as it is above zero. Return the number of months of each loan, int32
(n,), at most 480: a payment may be smaller than the interest.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def months(balance, rate, payment):
    """Return the months of one loan, (): the count is part of its state."""

    def unpaid(state):
        balance, count = state
        return (balance > 0) & (count < 480)

    def pay(state):
        balance, count = state
        return balance * (1 + rate) - payment, count + 1

    start = balance, jnp.zeros_like(balance, dtype=int)
    return lax.while_loop(unpaid, pay, start)[1]


def solution(balances, rates, payments):
    """Map a loop over the loans: each keeps its state when it is done."""
    return jax.vmap(months)(balances, rates, payments)


def check(months_of_all):
    """Raise AssertionError, with what to look at, unless `months_of_all` is right.

    months_of_all(balances, rates, payments): float32 (16,) to int32 (16,).
    """
    balances = np.float32([1000, 0, 50, 400, 900, 25, 2000, 10] * 2)
    rates = np.float32([0, 1, 2, 4, 0, 3, 2, 1, 4, 2, 0, 3, 1, 0, 4, 2]) / 256
    payments = np.float32([30, 9, 60, 25, 50, 1, 100, 11] * 2)
    _compare(months_of_all, balances, rates, payments)
    payments[0] = 2  # 500 months
    _compare(months_of_all, balances, rates, payments)
    payments[8] = 10  # less than the interest
    _compare(months_of_all, balances, rates, payments)
    print("The check passes.")


def _compare(months_of_all, *loans):
    """Say which loan has a wrong number of months, where one has."""
    expected = [_one_by_one(*loan) for loan in zip(*loans, strict=True)]
    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        placed = jax.device_put(loans, P("data"))
        try:
            found = jax.jit(months_of_all)(*placed)
        except jax.errors.TracerBoolConversionError:
            raise AssertionError(
                "Python's `while` asks all loans for one truth: which loop asks each?"
            ) from None
        except ValueError as error:
            if "is not found in mesh" not in str(error):
                raise
            raise AssertionError(
                "the count becomes one for each loan, and begins as one that is not on "
                "the mesh: begin it from an argument"
            ) from None
    assert isinstance(found, jax.Array) and found.shape == (16,), (
        f"16 loans have 16 numbers of months, (16,); yours: {found}"
    )
    found = np.asarray(found)
    assert len(set(found.tolist())) > 1, (
        f"all loans have {found[0]} months: the loop ends for all at once, so what "
        "counts for each?"
    )
    assert found.max() <= 480 or max(expected) < 480, (
        f"a loan runs for {found.max()} months; at most 480: what ends the loop when "
        "a payment is smaller than the interest?"
    )
    for loan, right, count in zip(
        zip(*loans, strict=True), expected, found, strict=True
    ):
        assert count == right, (
            f"{loan[0]:.0f} at {loan[1]:.2%} with {loan[2]:.0f} a month takes {right} "
            f"months; yours takes {count}"
        )


def _one_by_one(balance, rate, payment):
    """Return the months of one loan, in Python."""
    count, balance = 0, float(balance)
    while balance > 0 and count < 480:
        balance, count = balance * (1 + float(rate)) - float(payment), count + 1
    return count


def _loop(balance, rate, payment, count, limit, every=jnp.array):
    """Pay until the balance is zero or the count, from `count`, is at its limit."""

    def unpaid(state):
        balance, count = state
        return every((balance > 0) & (count < limit))

    def pay(state):
        balance, count = state
        return balance * (1 + rate) - payment, count + 1

    return lax.while_loop(unpaid, pay, (balance, count))[1]


def mistake_counts_for_all(balances, rates, payments):
    """You kept one count for all loans, which ends when the last loan is paid."""
    count = _loop(balances, rates, payments, 0, 480, every=jnp.any)
    return jnp.full(balances.shape, count)


def mistake_counts_on(balances, rates, payments):
    """You went on counting for every loan until the last one was paid."""
    start = jnp.zeros_like(balances, dtype=int)
    return _loop(balances, rates, payments, start, 480, every=jnp.any)


def mistake_stops_with_the_first(balances, rates, payments):
    """You looped while all loans were unpaid, so the first one paid ends the loop."""
    start = jnp.zeros_like(balances, dtype=int)
    return _loop(balances, rates, payments, start, 480, every=jnp.all)


def mistake_begins_with_zero(balances, rates, payments):
    """You began the count with a Python 0, which is not on the mesh."""
    return jax.vmap(lambda *loan: _loop(*loan, 0, 480))(balances, rates, payments)


def mistake_has_no_limit(balances, rates, payments):
    """You set no limit of 480 months, but a payment may be less than the interest."""

    def months(balance, *terms):
        return _loop(balance, *terms, jnp.zeros_like(balance, dtype=int), jnp.inf)

    return jax.vmap(months)(balances, rates, payments)


def mistake_asks_in_python(balances, rates, payments):
    """You used Python's `while`, which cannot test a value while JAX traces."""

    def months(balance, rate, payment):
        count = 0
        while balance > 0 and count < 480:
            balance, count = balance * (1 + rate) - payment, count + 1
        return count

    return jax.vmap(months)(balances, rates, payments)
