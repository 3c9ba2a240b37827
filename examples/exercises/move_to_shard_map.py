"""Move a training step from pmap to shard_map, and get the same step.

`old_step` is the step as code for pmap has it: weights (devices, n) with a copy for
each device, inputs (devices, m, n), targets (devices, m). The new step takes and
returns the weights once, (n,), replicated over the mesh, and inputs and targets with
all rows in one axis, (devices m, n) and (devices m,), sharded over "rows".
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

RATE = 0.5


def error(w, x, y):
    """Return the mean over rows of half the squared error: (n,), (m, n), (m,)."""
    return ((x @ w - y) ** 2).mean() / 2


def old_step(w, x, y):
    """Return the weights after one step, (n,), as the body of a pmap."""
    return w - RATE * lax.pmean(jax.grad(error)(w, x, y), "rows")


def mean_error(w, x, y):
    """Return the mean of the errors of all devices."""
    return lax.pmean(error(w, x, y), "rows")


def new_step(w, x, y):
    """Return the weights after one step, (n,), as the body of a shard_map."""
    return w - RATE * jax.grad(mean_error)(w, x, y)


def solution(mesh):
    """Return the new step, which takes the gradient of the mean error."""
    return jax.jit(
        jax.shard_map(
            new_step,
            mesh=mesh,
            in_specs=(P(), P("rows"), P("rows")),
            out_specs=P(),
        )
    )


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(mesh) returns a function: (n,), (m, n) and (m,) give the weights, (n,).
    """
    mesh = jax.make_mesh((8,), ("rows",))
    step = make(mesh)
    assert callable(step), "make(mesh) returns a function: the step over the mesh"
    x = np.arange(48, dtype=np.float32).reshape(16, 3) % 5
    w, y = np.array([1, 2, 3], np.float32), np.arange(16, dtype=np.float32) % 7
    folded = np.stack([w] * 8), x.reshape(8, 2, 3), y.reshape(8, 2)
    pmapped = jax.pmap(old_step, axis_name="rows")
    start, expected = w, pmapped(*folded)[0]
    split, whole = NamedSharding(mesh, P("rows")), NamedSharding(mesh, P())
    w, x, y = jax.device_put((w, x, y), (whole, split, split))
    found = step(w, x, y)
    assert np.shape(found) == (3,), (
        f"the weights go in once, as (3,), and come out so; yours are {np.shape(found)}"
    )
    moved, wanted = np.asarray(found) - start, np.asarray(expected) - start
    assert not np.array_equal(moved, 8 * wanted), (
        "the step is eight times too long: the gradient of a shared weight is "
        "already the sum over all devices, and a mean of sums is that sum"
    )
    assert np.array_equal(moved, wanted), (
        "the step differs from pmap's: is it the mean over all devices of the "
        f"gradient? It should be {wanted}, and is {moved}"
    )
    assert found.sharding.is_equivalent_to(whole, 1), (
        "the weights are to lie whole on every device of the mesh, and do not"
    )
    print("The check passes.")


def over(mesh, step, out_specs=None, check_vma=True):
    """Return a wrong `step` over the mesh, as the mistakes below want it."""
    return jax.jit(
        jax.shard_map(
            step,
            mesh=mesh,
            in_specs=(P(), P("rows"), P("rows")),
            out_specs=out_specs or P(),
            check_vma=check_vma,
        )
    )


def mistake_averages_a_sum(mesh):
    """You took the mean of a gradient that `grad` had already summed over devices."""
    return over(mesh, old_step)


def mistake_silences_the_check(mesh):
    """You turned off `check_vma`, so each device took a step of its own."""
    return over(
        mesh, lambda w, x, y: w - RATE * jax.grad(error)(w, x, y), check_vma=False
    )


def mistake_keeps_a_copy_for_each(mesh):
    """You returned a copy of the weights for each device, instead of one for all."""
    return over(mesh, lambda *args: new_step(*args)[None], out_specs=P("rows"))


def mistake_adds_up(mesh):
    """You left out the mean, so the step uses the sum of the devices' gradients."""
    return over(mesh, lambda w, x, y: w - RATE * jax.grad(error)(w, x, y))


def mistake_leaves_jit_to_place_it(mesh):
    """You computed the step on one device, outside of the mesh."""
    one = jax.devices("cpu")[0]

    def step(w, x, y):
        w, x, y = jax.device_put(jax.device_get((w, x, y)), one)
        return jnp.asarray(w - RATE * jax.grad(error)(w, x, y))

    return step
