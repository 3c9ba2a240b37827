"""Give a small vmap two more rules, for `max` and for `/`.

`Batched` stands for one example and holds all of them: `values` is (n, ...), and the
example has the shape (...).
Write the class `MoreBatched`, which is a `Batched` with the methods `max`, the largest
number of each example, and `__truediv__`, one example divided by another, which may
have fewer axes.
"""

import numpy as np


class Batched:
    """Stands for one example; holds all of them, along axis 0."""

    def __init__(self, values):
        self.values = values

    def mean(self):
        """Return the mean of each example: over every axis but the batch."""
        rows = self.values.reshape(len(self.values), -1)
        return Batched(rows.mean(axis=1))

    def __sub__(self, other):
        missing = self.values.ndim - other.values.ndim
        shape = other.values.shape + (1,) * missing
        return Batched(self.values - other.values.reshape(shape))

    def __matmul__(self, matrix):
        return Batched(self.values @ matrix)


class solution(Batched):
    """The two rules are those of `mean` and of `-`, with another operation."""

    def max(self):
        """Return the largest number of each example: over every axis but the batch."""
        rows = self.values.reshape(len(self.values), -1)
        return Batched(rows.max(axis=1))

    def __truediv__(self, other):
        missing = self.values.ndim - other.values.ndim
        shape = other.values.shape + (1,) * missing
        return Batched(self.values / other.values.reshape(shape))


def check(MoreBatched):
    """Raise AssertionError, with what to look at, unless `MoreBatched` is right.

    MoreBatched(values): for values (n, ...) an object with `max` and `/`, which return
    an object with `values`, (n,) for `max` and (n, ...) for `/`.
    """
    assert callable(MoreBatched), f"MoreBatched should be a class, and is {MoreBatched}"
    for shape in [(3, 8, 8), (2, 2, 2)]:  # with (2, 2, 2), any axis fits
        values = _numbers(shape)
        one = MoreBatched(values)
        for method, sign in [("max", "max"), ("__truediv__", "/")]:
            assert hasattr(one, method), (
                f"MoreBatched has no method called {method}, so it does not know {sign}"
            )
        rows = values.reshape(len(values), -1)
        _compare("max", shape, one.max, rows.max(axis=1))
        scaled = values / rows.max(axis=1).reshape(-1, 1, 1)
        _compare("image / image.max()", shape, lambda x=one: x / x.max(), scaled)
        other = MoreBatched(_numbers(shape)[::-1] + 1)
        ratio = values / (values[::-1] + 1)
        _compare("image / image", shape, lambda x=one, y=other: x / y, ratio)
    print("The check passes.")


def _numbers(shape):
    """Return different whole numbers, from 1 on, in no order, float32."""
    count = np.prod(shape)
    return np.random.default_rng(1).permutation(count).reshape(shape) + np.float32(1)


def _compare(what, shape, compute, expected):
    """Raise unless `compute` returns an object that holds what is `expected`."""
    case = f"{what}, for {shape[0]} examples of shape {shape[1:]}"
    try:
        found = compute()
    except ValueError as error:
        raise AssertionError(
            f"{case}: NumPy could not line up the axes; what has to be done to the "
            "divisor, as in rule 2?"
        ) from error
    assert hasattr(found, "values"), (
        f"{case}, returns a thing of type {type(found).__name__}, which stands for no "
        "example: wrap the numbers in a Batched"
    )
    assert np.shape(found.values) == expected.shape, (
        f"{case}, should hold values of shape {expected.shape}; yours have "
        f"{np.shape(found.values)}"
    )
    assert np.allclose(found.values, expected, rtol=1e-5), (
        f"{case}, has the right shape and wrong numbers: did one example get the "
        "divisor of another one?"
    )


def mistake_takes_the_largest_of_all(values):
    """You took the maximum over all axes, so the examples have one number in common."""

    class MoreBatched(solution):
        def max(self):
            return Batched(self.values.max())

    return MoreBatched(values)


def mistake_takes_the_last_axis(values):
    """You took the maximum over the last axis only, so an image has eight of them."""

    class MoreBatched(solution):
        def max(self):
            return Batched(self.values.max(axis=-1))

    return MoreBatched(values)


def mistake_does_not_line_up(values):
    """You divided the arrays as they are, and NumPy lines up axes from the end."""

    class MoreBatched(solution):
        def __truediv__(self, other):
            return Batched(self.values / other.values)

    return MoreBatched(values)


def mistake_returns_the_array(values):
    """You returned an array, so what comes next no longer knows about the batch."""

    class MoreBatched(solution):
        def max(self):
            return super().max().values

    return MoreBatched(values)
