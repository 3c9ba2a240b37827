"""Count the primitives that a function is recorded as, to see what `vmap` made.

Use it: `"cond" in primitives(jax.vmap(f), xs)`.
"""

from collections import Counter

import jax


def primitives(fn, *args):
    """Return how often each primitive is in the jaxpr of `fn`, however deep.

    >>> primitives(lambda x: jax.lax.cond(x > 0, jax.lax.sin, jax.lax.cos, x), 1.0)
    Counter({'gt': 1, 'convert_element_type': 1, 'cond': 1, 'cos': 1, 'sin': 1})
    """
    return Counter(_names(jax.make_jaxpr(fn)(*args).jaxpr))


def _names(jaxpr):
    """Give the names of the primitives of `jaxpr`, and of the jaxprs inside it."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inner in jax.tree.leaves(list(equation.params.values())):
            inner = getattr(inner, "jaxpr", inner)
            yield from _names(inner) if hasattr(inner, "eqns") else ()
