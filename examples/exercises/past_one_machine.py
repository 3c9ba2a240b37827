"""Work out how many devices are worth it.

A step takes `compute` seconds on one device, and `compute / n` on n of them.  After it
comes an all-reduce of `size` bytes on a ring, which takes, with `bandwidth` in bytes a
second and `latency` in seconds,

    2 * (n - 1) / n * size / bandwidth + 2 * (n - 1) * latency

n devices are worth it if they compute at least half of the time.  Write
`largest(compute, size, bandwidth, latency)`: the largest power of two, from 1 to 4096,
that is worth it, an int.
"""


def all_reduce_seconds(size, n, bandwidth, latency):
    """Return how long an all-reduce of `size` bytes takes on a ring of n devices."""
    bytes_sent = 2 * (n - 1) / n * size
    messages = 2 * (n - 1)
    return bytes_sent / bandwidth + messages * latency


def solution(compute, size, bandwidth, latency):
    """Try all powers of two, and keep the last that computes as long as it waits."""
    best = 1
    for n in [2**k for k in range(13)]:
        if compute / n >= all_reduce_seconds(size, n, bandwidth, latency):
            best = n
    return best


CASES = {
    "a large network": (8.0, 4e9, 50e9, 1e-5),
    "a small network": (0.015, 4e4, 50e9, 1e-5),
    "two devices at most": (0.2, 4e9, 50e9, 1e-5),
    "a step that is too short": (0.001, 4e9, 50e9, 1e-5),
    "a step of an hour": (3600.0, 4e4, 50e9, 1e-5),
}


def check(largest):
    """Raise AssertionError, with what to look at, unless `largest` is right.

    largest(compute, size, bandwidth, latency): four floats to an int.
    """
    assert callable(largest), f"largest returns a whole number; {largest!r} does not"
    for name, (compute, *link) in CASES.items():
        found, right = largest(compute, *link), solution(compute, *link)
        assert _is_whole(found), (
            f"largest returns a whole number; for {name}, yours returns {found!r}"
        )
        assert found in [2**k for k in range(13)], (
            f"for {name}, yours is {found}, and it should be a power of two from 1 to "
            "4096"
        )
        told = "larger" if found > right else "smaller"
        assert found == right, (
            f"for {name}, largest{(compute, *link)}, yours is {told} than it should "
            f"be: {_says(found, compute, *link)}, and {_says(right, compute, *link)}"
        )
    print("The check passes.")


def _says(n, compute, *link):
    """Describe a step on n devices."""
    waiting = all_reduce_seconds(link[0], n, *link[1:])
    return (
        f"{n} compute for {1000 * compute / n:.3g} ms and wait for {1000 * waiting:.3g}"
    )


def _is_whole(found):
    """Whether `found` is one whole number, of whatever type."""
    try:
        return float(found).is_integer()
    except (TypeError, ValueError):
        return False


def _last_that(worth):
    """Return the last power of two, up to 4096, for which `worth` says so."""
    return max(n for n in [2**k for k in range(13)] if n == 1 or worth(n))


def mistake_ignores_the_latency(compute, size, bandwidth, latency):
    """You counted the bytes alone, and each message takes its time, however small."""
    return _last_that(
        lambda n: compute / n >= all_reduce_seconds(size, n, bandwidth, 0)
    )


def mistake_sends_n_messages(compute, size, bandwidth, latency):
    """You counted n messages, but on a ring there are two rounds of n - 1."""

    def waiting(n):
        return all_reduce_seconds(size, n, bandwidth, 0) + n * latency

    return _last_that(lambda n: compute / n >= waiting(n))


def mistake_divides_the_all_reduce(compute, size, bandwidth, latency):
    """You divided the all-reduce by n, too, but each device waits for all of it."""
    return _last_that(
        lambda n: compute / n >= all_reduce_seconds(size, n, bandwidth, latency) / n
    )


def mistake_goes_one_too_far(compute, size, bandwidth, latency):
    """You returned the first that is not worth it, where the loop ends."""
    n = 1
    while n < 4096 and compute / n >= all_reduce_seconds(size, n, bandwidth, latency):
        n *= 2
    return n
