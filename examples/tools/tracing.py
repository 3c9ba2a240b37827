"""Count how often Python runs a function, which under `jit` is how often it is traced.

Use it: `f = count_traces(f)`, wrap and call `f` as you like, then read `f.traces`;
or `traces(use)`, where `use(f)` wraps and calls the function that it is given.
"""

import functools


def count_traces(fn):
    """Return `fn` with a number, `traces`: how often Python ran its body so far.

    >>> import jax
    >>> double = count_traces(lambda x: 2 * x)
    >>> jitted = jax.jit(double)
    >>> [float(jitted(x)) for x in (1.0, 2.0, 3.0)], double.traces
    ([2.0, 4.0, 6.0], 1)
    """

    @functools.wraps(fn)
    def counted(*args, **kwargs):
        counted.traces += 1
        return fn(*args, **kwargs)

    counted.traces = 0
    return counted


def traces(use, fn=lambda x, *args, **kwargs: x):
    """Return how often Python runs `fn` in `use(fn)`; `fn` returns its first argument.

    >>> import jax
    >>> traces(lambda f: [jax.vmap(f)(jax.numpy.ones(3)) for _ in range(4)])
    4
    """
    counted = count_traces(fn)
    use(counted)
    return counted.traces
