"""Time calls side by side, so that their figures can be compared.

Why it is hard: JAX returns before the answer is there, the first call compiles, a tiny
call is shorter than a clock can tell, and no machine is the same a minute later.
What finishes it: a call of each off the clock, `block_until_ready` on the clock, many
calls in a sample where one is short, and rounds of one sample of each in turn, so that
what disturbs a round disturbs all that it compares.

Use it: `print(table(interleaved({"add": lambda: x + x, "sum": x.sum}), "add"))`
"""

import math
import os
import statistics
import time
from typing import NamedTuple

import jax

SAMPLE = 1e-3  # seconds that a sample lasts at least: thousands of ticks of the clock
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


class Timing(NamedTuple):
    """Seconds that one call took: the quartiles of so many rounds."""

    low: float
    median: float
    high: float
    rounds: int


def interleaved(calls, repeats=15, budget=10.0):
    """Time `{name: function without arguments}` in turn; return `{name: Timing}`.

    It ends after `repeats` rounds or `budget` seconds, but not before three rounds.
    """
    counts = {name: calls_per_sample(call) for name, call in calls.items()}
    rounds, end = [], time.perf_counter() + budget
    while len(rounds) < 3 or (len(rounds) < repeats and time.perf_counter() < end):
        rounds.append([sample(call, counts[name]) for name, call in calls.items()])
    return {
        name: Timing(*statistics.quantiles(samples, method="inclusive"), len(rounds))
        for name, samples in zip(calls, zip(*rounds, strict=True), strict=True)
    }


def sample(call, count):
    """Return the seconds of one of `count` calls, each awaited before the next."""
    start = time.perf_counter()
    for _ in range(count):
        jax.block_until_ready(call())
    return (time.perf_counter() - start) / count


def calls_per_sample(call):
    """Return how many calls fill a sample; the first one, which compiles, is lost."""
    sample(call, 1)
    once = sample(call, 1)
    return math.ceil(SAMPLE / min([once, sample(call, 1)] if once < SAMPLE else [once]))


def unawaited(call):
    """Return the seconds until `call` returns, which is before its answer is there."""
    start = time.perf_counter()
    answer = call()
    seconds = time.perf_counter() - start
    jax.block_until_ready(answer)  # or the next call would queue behind this one
    return seconds


def napping(naps):
    """Return a call that sleeps: as many seconds each time as `naps` says next.

    It stands for work of known length on a machine with a known history.
    """
    left = iter(naps)
    return lambda: time.sleep(next(left))


def table(timings, relative_to, moved=None):
    """Return `{name: Timing}` as lines of text, with the ratio to one of the medians.

    moved: `{name: bytes that a call reads and writes}`, for a column of GB/s.
    Raises KeyError when `relative_to` is not among the names.

    >>> times = interleaved({"nap": lambda: time.sleep(2e-3), "none": lambda: None})
    >>> times["none"].median < 1e-3 < times["nap"].low <= times["nap"].high
    True
    >>> len(table(times, relative_to="nap").splitlines())
    3
    """
    base, moved = timings[relative_to], moved or {}
    head = f"{base.rounds} rounds", "median", "quartiles", "ratio"
    wide = max(map(len, (head[0], *timings)))
    line = f"{{:<{wide}}}{{:>10}}{{:>20}}{{:>9}}{{:>8}}".format
    lines = [line(*head, "GB/s" if moved else "")]
    for name, (low, median, high, _) in timings.items():
        unit = next((unit for unit, size in UNITS.items() if size <= median), "ns")
        shown = [digits(value / UNITS[unit]) for value in (median, low, high)]
        rate = digits(moved[name] / median / 1e9) if name in moved else ""
        middle, spread = f"{shown[0]} {unit}", f"{shown[1]} to {shown[2]} {unit}"
        lines.append(line(name, middle, spread, digits(median / base.median), rate))
    return "\n".join(map(str.rstrip, lines))


def digits(number):
    """Return a positive number as text, to three digits that count."""
    return f"{number:.{max(0, 2 - math.floor(math.log10(number)))}f}"


def machine(devices):
    """Return one line that says what the figures of a page were measured on."""
    many = "devices" if len(devices) > 1 else "device"
    kind = f"{len(devices)} {devices[0].device_kind} {many}"
    return f"{kind} on a machine of {os.cpu_count()} cores, JAX {jax.__version__}"
