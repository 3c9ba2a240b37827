"""Time a few calls against each other, so that their figures can be compared.

JAX returns before the answer is there, a first call compiles, and no machine is the
same a minute later. So each call runs once off the clock, is awaited on the clock, and
is repeated until a sample is long enough to measure; a round takes one sample of each
call in turn, so that whatever disturbs a round disturbs everything that it compares.

Use it: `print(table(time_calls({"add": lambda: x + x, "sum": x.sum}), "add"))`
"""

import math
import os
import statistics
import time
from typing import NamedTuple

import jax

from examples.tools.text import count_text, seconds_text

SAMPLE = 1e-3  # seconds that a sample lasts at least: thousands of ticks of the clock


class Timing(NamedTuple):
    """Seconds that one call took: median and quartiles of so many rounds.

    Of fewer than seven rounds, `low` and `high` are the minimum and the maximum.
    """

    low: float
    median: float
    high: float
    rounds: int


def time_calls(calls, rounds=31, seconds=0.5):
    """Time `{name: function without arguments}` in turn; return `{name: Timing}`.

    It ends after `rounds` or after `seconds`, but not before three rounds.

    >>> times = time_calls({"nap": lambda: time.sleep(2e-3), "none": lambda: None}, 5)
    >>> times["none"].median < 1e-3 < times["nap"].low <= times["nap"].high
    True
    """
    counts = {name: calls_per_sample(call) for name, call in calls.items()}
    taken, end = [], time.perf_counter() + seconds
    while len(taken) < 3 or (len(taken) < rounds and time.perf_counter() < end):
        taken.append([sample(call, counts[name]) for name, call in calls.items()])
    columns = zip(*taken, strict=True)
    return {name: _summary(column) for name, column in zip(calls, columns, strict=True)}


def sample(call, count=1):
    """Return the seconds of one of `count` calls, each awaited before the next."""
    start = time.perf_counter()
    for _ in range(count):
        jax.block_until_ready(call())
    return (time.perf_counter() - start) / count


def calls_per_sample(call):
    """Return how many calls fill a sample; the first one, which compiles, is lost."""
    sample(call)
    once = sample(call)
    if once < SAMPLE:
        once = min(once, sample(call))
    return math.ceil(SAMPLE / once)


def _summary(samples):
    """Return the `Timing` of two samples or more, in seconds."""
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    if len(samples) < 7:
        low, high = min(samples), max(samples)
    return Timing(low, median, high, len(samples))


def timing_text(timing):
    """Return a median, and half of what lies between `low` and `high`, as text.

    >>> timing_text(Timing(0.9e-3, 1e-3, 1.1e-3, 31))
    '1.00 ms ±10%'
    """
    spread = 50 * (timing.high - timing.low) / timing.median
    return f"{seconds_text(timing.median)} ±{spread:.0f}%"


def table(timings, relative_to, moved=None):
    """Return `{name: Timing}` as lines of text, with the ratio to one of the medians.

    moved: `{name: bytes that a call reads and writes}`, for a column of GB/s.
    Raises KeyError when `relative_to` is not among the names.
    """
    base, moved = timings[relative_to], moved or {}
    spread = "quartiles" if base.rounds >= 7 else "min, max"
    rows = [(f"{base.rounds} rounds", "median", spread, "ratio", "GB/s" * bool(moved))]
    for name, (low, median, high, _) in timings.items():
        rate = count_text(moved[name] / median / 1e9) if name in moved else ""
        between = f"{seconds_text(low)} to {seconds_text(high)}"
        ratio = count_text(median / base.median)
        rows.append((name, seconds_text(median), between, ratio, rate))
    wide = max(len(row[0]) for row in rows)
    line = f"{{:<{wide}}}{{:>10}}{{:>20}}{{:>9}}{{:>8}}".format
    return "\n".join(line(*row).rstrip() for row in rows)


def machine(devices=None):
    """Return one line that says what was measured on: all devices, or these."""
    devices = devices or jax.devices()
    many = "devices" if len(devices) > 1 else "device"
    kind = f"{len(devices)} {devices[0].device_kind} {many}"
    return f"{kind} on a machine of {os.cpu_count()} cores, JAX {jax.__version__}"
