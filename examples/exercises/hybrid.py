"""Let groups of devices vote on the sign of each slope, one byte a number.

Each group along "rows" has its own rows and takes the gradient of `loss` for them; the
layers are split over "model", which stays with the compiler. A group votes by the sign
of its slope, -1, 0 or 1, and the sign of the sum of the votes is the answer, shaped and
split as the weights are.

Source: Bernstein et al., "signSGD with Majority Vote is Communication Efficient and
Fault Tolerant", 2019.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.shard_map.hybrid import TYPES, batch, by_axis, loss, over_rows, place


def vote(slopes):
    """Return the sign of the sum of the groups' signs: any shape, float32.

    An int8 holds at most 127, so the sum of more than 127 votes needs an int16.
    """
    small = jnp.int8 if lax.axis_size("rows") <= 127 else jnp.int16
    mine = jnp.sign(slopes).astype(small)
    return jnp.sign(lax.psum(mine, "rows")).astype(slopes.dtype)


def solution(mesh):
    """Return the votes of all groups, each on the gradient of its own rows."""

    def body(params, x, y):
        own = lax.pcast(params, "rows", to="varying")
        return jax.tree.map(vote, jax.grad(loss)(own, x, y))

    in_specs = P(), P("rows"), P("rows")
    return jax.jit(
        jax.shard_map(
            body, mesh=mesh, axis_names={"rows"}, in_specs=in_specs, out_specs=P()
        )
    )


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(mesh) returns a function: weights {"w", "v"}, rows and targets give signs.
    """
    names = ("rows", "model")
    mesh = jax.make_mesh((4, 2), names, axis_types=TYPES)
    with jax.set_mesh(mesh):
        voted = make(mesh)
    assert callable(voted), "make(mesh) returns a function: weights, rows and targets"
    params, x, y = batch()
    given = place(mesh, params, x, y)
    with jax.set_mesh(mesh):
        found = voted(*given)
    groups = zip(np.split(x, 4), np.split(y, 4), strict=True)
    slopes = [jax.grad(loss)(params, *group) for group in groups]
    for name, weights in params.items():
        expected = np.sign(sum(np.sign(slope[name]) for slope in slopes))
        assert np.shape(found[name]) == weights.shape, (
            f"{name} has {weights.shape} weights; yours has {np.shape(found[name])}"
        )
        wrong = int((np.asarray(found[name]) != expected).sum())
        assert wrong == 0, (
            f"{wrong} of the {weights.size} signs for {name} are not the majority's: "
            "does each group vote on the slopes of its own rows?"
        )
        split, ours = given[0][name].sharding, found[name].sharding
        assert ours.is_equivalent_to(split, weights.ndim), (
            f"{name} is split as {split.spec}, and its signs as {ours.spec}"
        )
    with jax.set_mesh(mesh):
        sent = by_axis(mesh, jax.jit(voted).lower(*given))
    most = sum(weights.size for weights in params.values()) // 2  # half of them each
    size = sum(size for _, size in sent.get("rows", []))
    assert size <= most, (
        f"a device holds {most} weights and may send a byte for each over rows; "
        f"yours puts in {size} bytes"
    )
    print("The check passes.")


def mistake_votes_on_the_sum(mesh):
    """You left out `pcast`, so `grad` summed over the groups before they could vote."""

    def body(params, x, y):
        return jax.tree.map(jnp.sign, jax.grad(loss)(params, x, y))

    return over_rows(mesh, body)


def mistake_sends_floats(mesh):
    """You summed the votes as float32, four bytes each, instead of int8."""

    def body(params, x, y):
        own = lax.pcast(params, "rows", to="varying")
        votes = jax.tree.map(jnp.sign, jax.grad(loss)(own, x, y))
        return jax.tree.map(lambda each: jnp.sign(lax.psum(each, "rows")), votes)

    return over_rows(mesh, body)


def mistake_averages_the_votes(mesh):
    """You returned the mean of the votes instead of the sign of their sum."""

    def body(params, x, y):
        own = lax.pcast(params, "rows", to="varying")
        votes = jax.tree.map(jnp.sign, jax.grad(loss)(own, x, y))
        return jax.tree.map(lambda each: lax.pmean(each, "rows"), votes)

    return over_rows(mesh, body)
