"""Run one program on many devices, each on its own row, with pmap.

Why it is hard: the body looks like a function of one row, and the devices that run it
can neither see each other's rows nor take different branches of your Python.
What finishes it: give the leading axis as many rows as there are devices, ask for the
device's number with `axis_index`, and let collectives carry what must be shared.

Run it: `python -m examples.pmap.one_program_many_devices`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

ROWS = P("rows")


def reference(v, u):
    """Return the sum of all products of two arrays of one shape: ()."""
    return (v * u).sum()


def body(v, u):
    """Return this device's share and the total: (m, 3) and (m, 3) give () twice."""
    share = jnp.vdot(v, u)
    return share, lax.psum(share, "rows")


def who_am_i(x):
    """Return ten times the number of the device, and its row: () gives ()."""
    return 10 * lax.axis_index("rows") + x


def pmapped(fn):
    """Return `fn` on every device: axis 0 of each argument names the device."""
    return jax.pmap(fn, axis_name="rows")


def sharded(fn, mesh):
    """Return the same by `shard_map`: the mapped axis stays, with length one."""

    def block(*rows):
        return jax.tree.map(lambda out: out[None], fn(*(row[0] for row in rows)))

    return jax.jit(jax.shard_map(block, mesh=mesh, in_specs=ROWS, out_specs=ROWS))


def fold(x, n=8):
    """Give each of n devices a block of rows: (count, 3) to (n, count / n, 3)."""
    return x.reshape(n, -1, x.shape[-1])


def rows(count=10_000_000):
    """Return two arrays of `count` rows of three ones or zeros: float32, in NumPy.

    Sums of them are whole, and exact below 2 to the power 24.
    """
    v = np.ones((count, 3), np.float32)
    u = np.zeros((count, 3), np.float32)
    u[:, 0] = 1
    return v, u


def lower(mesh):
    """Lower the pmapped body for a mesh of any size, with four rows on each device."""
    block = jax.ShapeDtypeStruct(
        (mesh.size, 4, 3), jnp.float32, sharding=NamedSharding(mesh, ROWS)
    )
    return jax.pmap(body, "rows", devices=list(mesh.devices.flat)).lower(block, block)


def main():
    """Add up the products of many rows on eight devices, by pmap and by shard_map.

    >>> main()
    each device got (1000, 3)
    every device knows the total: True
    shard_map returns the same: True
    """
    v, u = (fold(x) for x in rows(8000))
    print(f"each device got {v.shape[1:]}")
    shares, totals = pmapped(body)(v, u)
    print(f"every device knows the total: {bool((totals == reference(v, u)).all())}")
    mesh = jax.make_mesh((8,), ("rows",))
    on_mesh = jax.device_put((v, u), NamedSharding(mesh, ROWS))
    again = sharded(body, mesh)(*on_mesh)
    equal = all(map(np.array_equal, again, (shares, totals)))
    print(f"shard_map returns the same: {equal}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
