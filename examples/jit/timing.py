"""Stop the clock too early, and play a machine that gets busy, to see a clock mislead.

The clock that does neither is the book's instrument, `examples/tools/timing.py`.

Run it: `python -m examples.jit.timing`
"""

import time

import jax

from examples.tools.timing import time_calls


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


def main():
    """Time two calls that take turns while the machine becomes ten times slower.

    >>> main()
    both seem equally slow: True
    """
    nap = napping(17 * [2e-3] + 17 * [20e-3])
    turns = time_calls({"first": nap, "second": nap}, rounds=15, seconds=5)
    ratio = turns["second"].median / turns["first"].median
    print(f"both seem equally slow: {1 / 3 < ratio < 3}")


if __name__ == "__main__":
    main()
