"""Take one step down the mean of a loss, in one program that is made once.

Given `f(weights, row, target)`, return `step(weights, rows, targets)`: the mean of f
over the rows, and the weights less a half of that mean's gradient.
Python runs f once however often step is called, f's work is done once a call, and the
whole step is one compiled program.
"""

import jax
import jax.numpy as jnp
import numpy as np

from examples.jit.with_grad import AXES, batch, miss, products, reference


def solution(f):
    """Take value and gradient together, and put one `jit` around all of it."""
    mapped = jax.vmap(f, in_axes=(None, 0, 0))  # all rows share the weights

    def mean(*batch):
        return mapped(*batch).mean()

    @jax.jit
    def step(weights, rows, targets):
        value, gradient = jax.value_and_grad(mean)(weights, rows, targets)
        return value, weights - gradient / 2

    return step


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(f): f takes float32 (k,), (k,) and () to (); what make returns takes (k,),
    (n, k) and (n,) to () and (k,).
    """
    seen = []

    def watched(*row):
        seen.append(row)
        return miss(*row)

    step = make(watched)
    assert callable(step), f"make(f) returns a function, not {step!r}"
    weights, rows, targets = batch()
    for _ in range(4):
        found = step(weights, rows, targets)
    assert isinstance(found, tuple) and [np.shape(x) for x in found] == [(), (3,)], (
        "step returns the mean, a number, and the new weights, of shape (3,)"
    )
    errors = (rows @ weights - targets) ** 2
    assert found[0] == errors.mean(), "the first answer is not the mean over the rows"
    gradient = reference(weights, rows, targets).mean(axis=0)
    assert np.array_equal(found[1], weights - gradient / 2), (
        "the new weights are not the old ones less a half of the mean's gradient"
    )
    assert len(seen) == 1, (
        f"in four calls of step, Python ran f {len(seen)} times, not once: "
        "what does each call make or trace anew?"
    )
    jaxpr = jax.make_jaxpr(step)(weights, rows, targets)
    assert len(jaxpr.eqns) == 1, (
        f"a call of step is {len(jaxpr.eqns)} operations, one after another, where one "
        "compiled program would do: is jit around all of it?"
    )
    dots = products(step, weights, rows, targets)
    assert dots == 2, (
        f"the loss needs one dot product and its gradient one more; you have {dots}: "
        "is the loss computed again?"
    )
    print("The check passes.")


def mistake_leaves_jit_out(f):
    """You left out `jit`, so `f` is traced in every call."""
    mapped = jax.vmap(f, in_axes=AXES)

    def step(weights, rows, targets):
        mean = jax.value_and_grad(lambda w: mapped(w, rows, targets).mean())
        value, gradient = mean(weights)
        return value, weights - gradient / 2

    return step


def mistake_compiles_the_loss(f):
    """You jitted the loss only, so the rest of the step is separate operations."""
    mapped = jax.vmap(f, in_axes=AXES)
    mean = jax.jit(lambda *batch: mapped(*batch).mean())

    def step(weights, rows, targets):
        value, gradient = jax.value_and_grad(mean)(weights, rows, targets)
        return value, weights - gradient / 2

    return step


def mistake_computes_twice(f):
    """You called `grad`, and then the loss, so the loss was computed twice."""
    mapped = jax.vmap(f, in_axes=AXES)
    mean = jax.jit(lambda *batch: mapped(*batch).mean())

    @jax.jit
    def step(weights, rows, targets):
        gradient = jax.grad(mean)(weights, rows, targets)
        return mean(weights, rows, targets), weights - gradient / 2

    return step


def mistake_adds_up(f):
    """You summed the gradients of the rows instead of taking their mean."""
    each = jax.vmap(jax.value_and_grad(f), in_axes=AXES)

    @jax.jit
    def step(weights, rows, targets):
        values, gradients = each(weights, rows, targets)
        return jnp.mean(values), weights - gradients.sum(axis=0) / 2

    return step
