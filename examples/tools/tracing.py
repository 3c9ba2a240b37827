"""Count how often Python runs a function, which under `jit` is how often it is traced.

Use it: `f = count_traces(f)`, wrap `f` as you like, call that, and read `f.traces`.
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
