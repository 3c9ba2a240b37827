"""The clock of the book takes turns, stops in time, and says when rounds scatter."""

import time

from examples.tools.timing import Timing, table, time_calls


def test_rounds_end_with_their_number_or_with_the_time():
    calls = {"nap": lambda: time.sleep(2e-3)}
    assert time_calls(calls, rounds=4)["nap"].rounds == 4
    assert 3 <= time_calls(calls, rounds=1000, seconds=0.02)["nap"].rounds < 1000
    assert time_calls(calls, seconds=0)["nap"].rounds == 3


def test_of_a_few_rounds_the_ends_are_the_minimum_and_the_maximum():
    naps = iter([1e-3, 1e-3, 5e-3, 10e-3, 2e-3])
    taken = []

    def nap():
        start = time.perf_counter()
        time.sleep(next(naps))
        taken.append(time.perf_counter() - start)

    low, median, high, rounds = time_calls({"nap": nap}, 3)["nap"]
    assert rounds == 3 and len(taken) == 5
    assert high >= max(taken[2:]) and low <= median <= high


def test_the_table_names_what_it_shows():
    few, many = Timing(1.0, 2.0, 3.0, 3), Timing(1.0, 2.0, 3.0, 31)
    assert "min, max" in table({"a": few}, "a") and "3 rounds" in table({"a": few}, "a")
    text = table({"a": many, "b": many}, "a", moved={"b": 4e9})
    assert "quartiles" in text and text.splitlines()[2].endswith("2.00")
