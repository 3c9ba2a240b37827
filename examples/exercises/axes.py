"""Map a list of models over the columns of an array, and choose where results go.

Given a list of m dicts with w, (n, k), and b, (k,), and columns, (n, p), each an
input, return the outputs of every model for every input, (k, m, p).
The program may hold one matrix product: no loop over models or inputs.
"""

import jax
import jax.numpy as jnp
import numpy as np


def model(params, x):
    """Return the outputs for one input: (n,) gives (k,)."""
    return x @ params["w"] + params["b"]


def stack(models):
    """Return one dict for a list of them: each leaf gets an axis in front, (m, ...)."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)


def solution(models, columns):
    """Map the columns, then the models; each map puts its axis behind k, at axis 1."""
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
    over_inputs = jax.vmap(model, in_axes=(None, 1), out_axes=1)
    over_models = jax.vmap(over_inputs, in_axes=(0, None), out_axes=1)
    return over_models(stacked, columns)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(models, columns): m dicts of w (n, k) and b (k,), and (n, p), to (k, m, p).
    """
    for m, n, k, p in [(2, 2, 2, 2), (4, 3, 2, 5)]:
        w = np.arange(m * n * k, dtype=np.float32).reshape(m, n, k)
        b = np.arange(m * k, dtype=np.float32).reshape(m, k)
        models = [{"w": w[i], "b": b[i]} for i in range(m)]
        columns = np.arange(n * p, dtype=np.float32).reshape(n, p)
        found = make(models, columns)
        assert np.shape(found) == (k, m, p), (
            f"{m} models of {k} outputs and {p} inputs should have shape "
            f"({k}, {m}, {p}); yours has {np.shape(found)}"
        )
        expected = np.einsum("mnk,np->kmp", w, columns) + b.T[:, :, None]
        assert np.array_equal(found, expected), (
            "the shape is right and the numbers are not: with lengths that are all "
            f"{n}, any axis fits; which of them holds an input, which the models?"
        )
        products = str(jax.make_jaxpr(make)(models, columns)).count("dot_general")
        assert products == 1, (
            f"one matrix product does for all; your program has {products}"
        )
    print("The check passes.")


def mistake_takes_rows(models, columns):
    """You mapped axis 0 of `columns`, its rows, but the inputs are its columns."""
    over_inputs = jax.vmap(model, in_axes=(None, 0), out_axes=1)
    return jax.vmap(over_inputs, in_axes=(0, None), out_axes=1)(stack(models), columns)


def mistake_leaves_results(models, columns):
    """You left `out_axes` at 0, so the result has the axes (m, p, k), not (k, m, p)."""
    over_inputs = jax.vmap(model, in_axes=(None, 1))
    return jax.vmap(over_inputs, in_axes=(0, None))(stack(models), columns)


def mistake_pairs(models, columns):
    """You mapped models and inputs with one `vmap`, so model i met only input i."""
    return jax.vmap(model, in_axes=(0, 1), out_axes=1)(stack(models), columns)


def mistake_loops(models, columns):
    """You looped over the models, so the program has a matrix product for each."""
    over_inputs = jax.vmap(model, in_axes=(None, 1), out_axes=1)
    return jnp.stack([over_inputs(params, columns) for params in models], axis=1)
