"""Replace pmap inside of pmap by one mesh of two axes.

Why it is hard: older code maps a grid of devices by two `pmap`s, one in the other;
`pmap` is built on `shard_map` now, and each would bring a mesh of its own.
What finishes it: one mesh with both axes, and one `shard_map` whose specs name them.
The body, and the names that it sums over, stay as they were.

Run it: `python -m examples.nested.pmap_in_pmap`
"""

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import NamedSharding

GRID = P("rows", "inner")  # one piece for each device of a grid


def reference(body):
    """Map `body` over a grid on one device: (m, n, ...) to (m, n, ...)."""
    return jax.vmap(jax.vmap(body, axis_name="inner"), axis_name="rows")


def as_then(body):
    """Map `body` over a grid of devices, as older code did."""
    return jax.pmap(jax.pmap(body, axis_name="inner"), axis_name="rows")


def over_grid(body, mesh):
    """Map `body` over a grid of devices: (m, n, ...) to (m, n, ...), split as GRID."""

    def block(x):  # (1, 1, ...), where body expects (...)
        return jax.tree.map(lambda out: out[None, None], body(x[0, 0]))

    return jax.jit(jax.shard_map(block, mesh=mesh, in_specs=GRID, out_specs=GRID))


def shares(x):
    """Return `x` less its sum over one name, and its sum over both: two of (k,)."""
    return x - lax.psum(x, "inner"), lax.psum(x, ("rows", "inner"))


def grid(m=4, n=2, k=3):
    """Return a grid of rows of small whole numbers, (m, n, k) float32."""
    return jnp.arange(float(m * n * k)).reshape(m, n, k) % 7


def lower(mesh):
    """Lower the map for a mesh of any size, taken as a grid two devices wide."""
    pairs = jax.sharding.Mesh(mesh.devices.reshape(-1, 2), ("rows", "inner"))
    x = jax.ShapeDtypeStruct(
        (mesh.size // 2, 2, 3), jnp.float32, sharding=NamedSharding(pairs, GRID)
    )
    return over_grid(shares, pairs).lower(x)


def main():
    """Map the body over four times two devices, and compare it with one device.

    >>> main()
    a grid of (4, 2) rows of 3 numbers
    devices that hold the answer: 8
    equal to one device: True
    """
    mesh = jax.make_mesh((4, 2), ("rows", "inner"))
    x = grid()
    left, total = over_grid(shares, mesh)(jax.device_put(x, NamedSharding(mesh, GRID)))
    print(f"a grid of {x.shape[:2]} rows of {x.shape[2]} numbers")
    print(f"devices that hold the answer: {len(left.sharding.device_set)}")
    expected = reference(shares)(x)
    answers = zip((left, total), expected, strict=True)
    equal = all(bool((jax.device_get(a) == b).all()) for a, b in answers)
    print(f"equal to one device: {equal}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
