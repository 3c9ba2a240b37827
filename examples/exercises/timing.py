"""Write a clock: the seconds that one call typically takes, from call to answer.

The call that is timed is slow the first time, pauses now and then, and returns an
answer that has to be awaited.
"""

import itertools
import statistics
import time

import jax

FIRST, TYPICAL, PAUSE = 0.3, 0.02, 0.4  # seconds


class Answer:
    """An answer that is there so many seconds after it is asked for."""

    def __init__(self, seconds):
        self.ready = time.perf_counter() + seconds

    def block_until_ready(self):
        """Return the answer when it is there."""
        time.sleep(max(0.0, self.ready - time.perf_counter()))
        return self


def work():
    """Return a call like a compiled one: it returns an `Answer` before it is there."""
    calls = itertools.count()

    def call():
        number = next(calls)
        if number == 0:
            time.sleep(FIRST)  # compiles
        return Answer(PAUSE if number % 5 == 4 else TYPICAL)

    return call


def solution(call):
    """Return the median of awaited calls; the first one is off the clock."""
    jax.block_until_ready(call())
    samples = []
    for _ in range(10):
        start = time.perf_counter()
        jax.block_until_ready(call())
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(call): a function without arguments to a float, in seconds.
    """
    found = make(work())
    assert isinstance(found, float), (
        f"make(call) returns a number of seconds, a float; yours returns {found!r}"
    )
    what = f"a call takes {1e3 * TYPICAL:.0f} ms, yours says {1e3 * found:.3g} ms"
    assert found > 0.9 * TYPICAL, f"{what}: did the clock wait for the answer?"
    assert found < 3 * TYPICAL, (
        f"{what}: is the first call on the clock, or did a pause decide the figure?"
    )
    print("The check passes.")


def mistake_stops_at_the_return(call):
    """You stopped the clock when the call returned, before its result was there."""
    call()
    samples = []
    for _ in range(10):
        start = time.perf_counter()
        call()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def mistake_times_one_call(call):
    """You timed a single call, the first one, which compiles."""
    start = time.perf_counter()
    jax.block_until_ready(call())
    return time.perf_counter() - start


def mistake_takes_the_mean(call):
    """You took the mean of the calls, which contains the pauses."""
    jax.block_until_ready(call())
    start = time.perf_counter()
    for _ in range(10):
        jax.block_until_ready(call())
    return (time.perf_counter() - start) / 10
