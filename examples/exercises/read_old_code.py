"""Port a function of 2022 from `pmap` to `shard_map`.

    @partial(jax.pmap, axis_name="data", in_axes=(0, None))
    def old_standardize(x, scale):  # x: the numbers of this device, (n,)
        mean = lax.pmean(x.mean(), "data")
        variance = lax.pmean(((x - mean) ** 2).mean(), "data")
        return scale * (x - mean) / jnp.sqrt(variance)

Write `standardize(x, scale)` for a mesh with the axis "data".  `x` is a NumPy array,
float32 (n,), with n a multiple of the number of devices, and `scale` a number.  Return
the numbers with mean 0 and the standard deviation `scale`, as float32[n@data].
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def solution(x, scale):
    """Place the numbers, and leave the lines as they were; `pmap` becomes two lines."""

    @jax.jit
    @jax.shard_map(in_specs=(P("data"), P()), out_specs=P("data"))
    def on_all(x, scale):
        mean = lax.pmean(x.mean(), "data")
        variance = lax.pmean(((x - mean) ** 2).mean(), "data")
        return scale * (x - mean) / jnp.sqrt(variance)

    return on_all(jax.device_put(x, P("data")), scale)


def check(standardize):
    """Raise AssertionError, with what to look at, unless `standardize` is right.

    standardize(x, scale): NumPy's float32 (n,) and a float to float32[n@data].
    """
    mesh = jax.sharding.get_mesh()
    if "data" not in mesh.axis_names:
        mesh = jax.make_mesh((jax.device_count(),), ("data",))
    with jax.set_mesh(mesh):
        for each, scale in [(2, 1.0), (5, 10.0)]:
            _check_one(standardize, each * mesh.shape["data"], scale)
    print("The check passes.")


def _check_one(standardize, n, scale):
    asked = f"{n} numbers go in, and {n} come out, in an array of shape ({n},)"
    assert callable(standardize), f"{asked}; {standardize!r} is no function"
    x = np.arange(n, dtype=np.float32) ** 2 % 31 + np.arange(n, dtype=np.float32)
    try:
        found = standardize(x, scale)
    except (NameError, TypeError, ValueError) as error:
        said = f"{type(error).__name__}: {error}".partition("\n")[0]
        said = said.partition(". ")[0].rstrip(":")
        hint = "has each argument a spec of its own, x and scale?"
        if "does not match the specs of the input" in said:
            hint = "who divides x among the devices before it goes in, as P says?"
        raise AssertionError(f"{asked}, and yours raised {said}; {hint}") from error
    assert hasattr(found, "shape"), f"{asked}; yours returns {found!r}"
    assert found.shape == (n,), f"{asked}; yours has shape {found.shape}"
    values, right = np.asarray(found), scale * (x - x.mean()) / x.std()
    assert np.allclose(values, right, rtol=1e-3, atol=1e-3 * scale), (
        f"{n} numbers should get the mean 0 and the standard deviation {scale}; yours "
        f"have {values.mean():.2f} and {values.std():.2f}, and the first is "
        f"{values[0]:.2f} instead of {right[0]:.2f}: of which numbers is the mean?"
    )
    assert isinstance(found, jax.Array), (
        f"the numbers are right, and {type(found).__name__} is not an array on devices"
    )
    wanted = f"float32[{n}@data]"
    assert found.dtype == np.float32, (
        f"the numbers are right; their type should be {wanted}, not {found.dtype}"
    )
    placed = jax.NamedSharding(jax.sharding.get_mesh(), P("data"))
    assert found.sharding.is_equivalent_to(placed, 1), (
        f"the numbers are right; their type should be {wanted}, a part of them on each "
        f"device, and yours is {jax.typeof(found)}"
    )


def mistake_asks_nobody(x, scale):
    """You took `pmean` out with `pmap`, so each device brings its own to mean 0."""

    @jax.shard_map(in_specs=(P("data"), P()), out_specs=P("data"))
    def on_all(x, scale):
        return scale * (x - x.mean()) / x.std()

    return on_all(jax.device_put(x, P("data")), scale)


def mistake_keeps_the_axis_of_devices(x, scale):
    """You reshaped `x` as for `pmap`, and the axis of the devices is still there."""
    return solution(x.reshape(jax.sharding.get_mesh().shape["data"], -1), scale)


@jax.shard_map(in_specs=(P("data"), P()), out_specs=P("data"))
def mistake_does_not_place(x, scale):
    """You left `device_put` out: `pmap` divided what came, and `shard_map` does not."""
    mean = lax.pmean(x.mean(), "data")
    variance = lax.pmean(((x - mean) ** 2).mean(), "data")
    return scale * (x - mean) / jnp.sqrt(variance)


@jax.jit
def mistake_forgets_the_devices(x, scale):
    """You left the mesh out: the numbers are right, and each device has all of them."""
    return scale * (x - x.mean()) / x.std()
