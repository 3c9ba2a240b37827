"""Tell from a trace how long a device was busy.

Write `busy(events)`: of `(start, duration)` pairs in nanoseconds, in no order, the time
during which at least one event ran. Events overlap: one may lie inside of another, as
an operation does in the program that runs it.
"""

from itertools import permutations


def solution(events):
    """Return the length of the union of the events: pairs of ints to an int."""
    total = end = 0
    for start, duration in sorted(events):
        stop = start + duration
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def check(busy):
    """Raise AssertionError, with what to look at, unless `busy` is right.

    busy(events): a list of `(start, duration)`, whole numbers, to a number.
    """
    cases = {
        "one after the other, with a gap": ([(0, 10), (15, 5)], 15),
        "one inside of another": ([(0, 100), (10, 20), (40, 30)], 100),
        "two that overlap": ([(0, 10), (5, 10)], 15),
        "the same one twice": ([(3, 4), (3, 4)], 4),
        "one that outlasts those after it": ([(0, 50), (10, 5), (20, 5), (60, 1)], 51),
        "none": ([], 0),
    }
    for what, (events, expected) in cases.items():
        for order in permutations(events):
            found = busy(list(order))
            assert found == expected, (
                f"{what}: of {list(order)} at least one runs for {expected} ns; "
                f"busy returns {found}"
            )
    print("The check passes.")


def mistake_adds_up(events):
    """You added all durations, so the time in which events overlap counts twice."""
    return sum(duration for _, duration in events)


def mistake_takes_the_span(events):
    """You went from the first start to the last end, gaps included."""
    ends = [start + duration for start, duration in events]
    return max(ends, default=0) - min((start for start, _ in events), default=0)


def mistake_looks_back_one_event(events):
    """You compared with the event before only, but an earlier one may end later."""
    total, end = 0, 0
    for start, duration in sorted(events):
        stop = start + duration
        total += max(0, stop - max(start, end))
        end = stop
    return total
