"""Map a list of models over the columns of an array, and choose where results go.

Given a list of m dicts for `model`, w (n, k) and b (k,), and columns (n, p), each an
input, return the outputs of every model for every input, (k, m, p).
The program may hold one dot product: no loop over models or inputs.
"""

import jax
import jax.numpy as jnp
import numpy as np

from examples.vmap.what_it_does import equations


def model(params, x):
    """Return the outputs of one model for one input: (n,) gives (k,)."""
    return x @ params["w"] + params["b"]


def stack(trees):
    """Return one tree for a list of them: each leaf gets an axis in front, (m, ...)."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def solution(parameters, columns):
    """Map the columns, then the models; each leaves its axis behind the outputs."""
    over_inputs = jax.vmap(model, in_axes=(None, 1), out_axes=1)
    over_models = jax.vmap(over_inputs, in_axes=(0, None), out_axes=1)
    return over_models(stack(parameters), columns)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(parameters, columns): m dicts of w (n, k) and b (k,), and (n, p), to (k, m, p).
    """
    for m, n, k, p in [(2, 2, 2, 2), (4, 3, 2, 5)]:
        stacked = {"w": numbers(m, n, k), "b": numbers(m, k)}
        parameters = [{"w": stacked["w"][i], "b": stacked["b"][i]} for i in range(m)]
        columns = numbers(n, p)
        found = make(parameters, columns)
        assert np.shape(found) == (k, m, p), (
            f"{m} models of {k} outputs and {p} inputs should have shape "
            f"({k}, {m}, {p}); yours has {np.shape(found)}"
        )
        expected = np.einsum("mnk,np->kmp", *jax.device_get((stacked["w"], columns)))
        expected += np.asarray(stacked["b"]).T[:, :, None]
        assert np.array_equal(found, expected), (
            "the shape is right and the numbers are not: with lengths that are all "
            f"{n}, any axis fits; which of them holds an input, which the models?"
        )
        program = equations(jax.make_jaxpr(make)(parameters, columns))
        dots = sum(equation.primitive.name == "dot_general" for equation in program)
        assert dots == 1, f"one dot product does for all; your program has {dots}"


def numbers(*shape):
    """Return the whole numbers from 0 upward, as a float32 array of this shape."""
    return jnp.arange(np.prod(shape), dtype=jnp.float32).reshape(shape)


def mistake_takes_rows(parameters, columns):
    """Trust the default axis: the inputs lie in columns, and a square hides it."""
    over_inputs = jax.vmap(model, in_axes=(None, 0), out_axes=1)
    return jax.vmap(over_inputs, in_axes=(0, None), out_axes=1)(
        stack(parameters), columns
    )


def mistake_leaves_results(parameters, columns):
    """Choose each axis that comes in, and forget where the results should go."""
    over_inputs = jax.vmap(model, in_axes=(None, 1))
    return jax.vmap(over_inputs, in_axes=(0, None))(stack(parameters), columns)


def mistake_pairs(parameters, columns):
    """Take one map for two: the first model meets the first input and no other."""
    return jax.vmap(model, in_axes=(0, 1), out_axes=1)(stack(parameters), columns)


def mistake_loops(parameters, columns):
    """Map the inputs only, since the models are a list: a dot product for each."""
    over_inputs = jax.vmap(model, in_axes=(None, 1), out_axes=1)
    return jnp.stack([over_inputs(params, columns) for params in parameters], axis=1)
