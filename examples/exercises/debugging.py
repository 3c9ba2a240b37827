"""Find the devices that hold a NaN, on a mesh of any shape, without communication.

`make(mesh, spec)` returns a function of an array that is sharded by `spec`. It returns
a bool array with the shape of the mesh: True where the shard of the device has a NaN.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.tools.traffic import sends


def solution(mesh, spec):
    """Return a function that concatenates what each device finds."""

    def has_nan(shard):
        return jnp.isnan(shard).any().reshape((1,) * len(mesh.axis_names))

    out_specs = P(*mesh.axis_names)
    return jax.shard_map(has_nan, mesh=mesh, in_specs=spec, out_specs=out_specs)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(mesh, spec): a function from float32 (8, 4) to bool, of the mesh's shape.
    """
    row = jax.make_mesh((8,), ("data",))
    grid = jax.make_mesh((4, 2), ("data", "model"))
    cases = [(row, P("data")), (grid, P("data", "model")), (grid, P("data"))]
    for mesh, spec in cases:
        with jax.set_mesh(mesh):
            find, shape = make(mesh, spec), mesh.devices.shape
        assert callable(find), f"make(mesh, spec) returns a function; yours, {find}"
        whole = np.ones((8, 4), np.float32)
        whole[5, 3] = whole[0, 0] = np.nan
        x = jax.device_put(whole, NamedSharding(mesh, spec))
        with jax.set_mesh(mesh):
            found = jax.jit(find)(x)
        assert np.shape(found) == shape, (
            f"on a mesh of {shape} the answer has shape {shape}, an entry for each "
            f"device; yours has shape {np.shape(found)}"
        )
        held = {shard.device: shard.data for shard in x.addressable_shards}
        expected = [np.isnan(held[device]).any() for device in mesh.devices.flat]
        assert np.array_equal(found, np.reshape(expected, shape)), (
            f"with {spec} on a mesh of {shape} a NaN is on the devices numbered "
            f"{np.flatnonzero(expected)}; yours are {np.flatnonzero(found)}"
        )
        with jax.set_mesh(mesh):
            sent = [one.kind for one in sends(jax.jit(find).lower(x))]
        assert not sent, f"each device can look by itself; yours has {sent}"
    print("The check passes.")


def mistake_asks_the_whole(mesh, spec):
    """You returned one bool for the whole array, which does not say which device."""
    return lambda x: jnp.isnan(x).any()


def mistake_tells_everyone(mesh, spec):
    """You took the `pmax` of the flags over all devices, so all of them are `True`."""

    def body(block):
        bad = jnp.isnan(block).any().astype(jnp.int32)
        anywhere = lax.pmax(bad, mesh.axis_names) > 0
        return anywhere.reshape((1,) * len(mesh.axis_names))

    return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=P(*mesh.axis_names))


def mistake_forgets_the_second_axis(mesh, spec):
    """You concatenated the flags along one axis, also on a mesh of two axes."""

    def body(block):
        return jnp.isnan(block).any()[None]

    return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=P(mesh.axis_names))


def mistake_collects_flags(mesh, spec):
    """You added the flags with `psum`, but `out_specs` joins them without sending."""

    def body(block):
        place = tuple(lax.axis_index(name) for name in mesh.axis_names)
        flag = jnp.isnan(block).any().astype(jnp.int32)
        mine = jnp.zeros(mesh.devices.shape, jnp.int32).at[place].add(flag)
        return lax.psum(mine, mesh.axis_names) > 0

    return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=P())
