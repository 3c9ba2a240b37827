"""Map a body over rows, on a mesh whose axes may be Explicit or Auto.

Given a body for the rows of one device, an array (n, k) from the host or from the mesh,
and a mesh with an axis "data", return what the body makes of them, sharded by rows over
that mesh.
"""

import jax
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

ROWS = P("data")


def solution(body, x, mesh):
    """Return the mapped rows: `device_put` shards them on either kind of mesh."""
    placed = jax.device_put(x, jax.NamedSharding(mesh, P("data")))
    mapped = jax.shard_map(body, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    return jax.jit(mapped)(placed)


def above_lowest(x):
    """Return a shard (m, k) less the lowest number of all shards."""
    return x - lax.pmin(x.min(), "data")


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(body, x, mesh): a body from (m, k) to (m, k), float32 (n, k), and a mesh with
    an axis "data", to (n, k).
    """
    whole = np.arange(48, dtype=np.float32).reshape(16, 3) + 5
    for axes in (AxisType.Explicit, AxisType.Auto):
        mesh = jax.make_mesh((8,), ("data",), axis_types=(axes,))
        copies = jax.device_put(whole, NamedSharding(mesh, P()))
        for x, place in ((whole, "the host"), (copies, "every device")):
            case = f"an array on {place} and a mesh of {axes.name} axes"
            try:
                with jax.set_mesh(mesh):
                    found = make(above_lowest, x, mesh)
            except (ValueError, TypeError) as error:
                kind = type(error).__name__
                told, *_ = str(error).split(" This error occurs at source")
                raise AssertionError(f"{case} give a {kind}: {told}") from None
            assert np.shape(found) == whole.shape, (
                f"(16, 3) has to come back as (16, 3); yours, for {case}, has shape "
                f"{np.shape(found)}: does each device get its own rows?"
            )
            assert np.array_equal(found, whole - whole.min()), (
                f"for {case} the numbers differ from those of one device"
            )
            split = NamedSharding(mesh, ROWS)
            kept = found.sharding.mesh == mesh
            assert kept and found.sharding.is_equivalent_to(split, found.ndim), (
                f"for {case} the answer has to be sharded by rows over the mesh that "
                "was given, whose axes keep their types"
            )
    print("The check passes.")


def mistake_trusts_in_specs(body, x, mesh):
    """You relied on `in_specs`, which on Explicit axes do not shard the array."""
    mapped = jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)
    return jax.jit(mapped)(x)


def mistake_takes_the_first_advice(body, x, mesh):
    """You left out `in_specs`, so every device mapped all rows."""
    with jax.set_mesh(mesh):
        return jax.jit(jax.shard_map(body, mesh=mesh, out_specs=ROWS))(x)


def mistake_makes_its_own_mesh(body, x, mesh):
    """You made a mesh with Auto axes, which is not the mesh that you were given."""
    auto = Mesh(mesh.devices, mesh.axis_names)
    mapped = jax.shard_map(body, mesh=auto, in_specs=ROWS, out_specs=ROWS)
    return jax.jit(mapped)(np.asarray(x))


def mistake_reshards(body, x, mesh):
    """You used `jax.reshard`, which refuses Auto axes."""
    placed = jax.reshard(x, NamedSharding(mesh, ROWS))
    mapped = jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS)
    return jax.jit(mapped)(placed)
