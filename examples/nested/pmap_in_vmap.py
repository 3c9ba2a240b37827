"""Map a function that already runs on many devices: vmap around pmap and shard_map.

Why it is hard: nothing in `vmap(pmap(f))` says where the batch goes, and under a
`shard_map` a batch that was split is gathered on every device unless it is named.
What finishes it: know that the batch rides along inside of each device; and give
`spmd_axis_name` where it has a mesh axis of its own.

Run it: `python -m examples.nested.pmap_in_vmap`
"""

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import AxisType, NamedSharding

GRID = P("batch", "rows")


def reference(body):
    """Map `body` on one device: (b, n) gives (b, n), with the name "rows" on axis 1."""
    return jax.vmap(jax.vmap(body, axis_name="rows"))


def center(x):
    """Return `x` less its mean over the devices: () gives ()."""
    return x - lax.pmean(x, "rows")


def vmap_of_pmap(body):
    """Batch a map over devices: (b, n) gives (b, n), split along axis 1."""
    return jax.vmap(jax.pmap(body, axis_name="rows"))


def pmap_of_vmap(body):
    """Give each device one column of the batch: (b, n) gives (b, n), the same."""
    columns = {"in_axes": 1, "out_axes": 1}
    return jax.pmap(jax.vmap(body), axis_name="rows", **columns)


def over_rows(body, mesh):
    """Map `body` over the devices of "rows": (n,) gives (n,)."""
    return jax.shard_map(body, mesh=mesh, in_specs=P("rows"), out_specs=P("rows"))


def batch(b=4, n=8):
    """Return a batch of rows of multiples of eight, (b, n) float32: exact means."""
    return 8 * (jnp.arange(float(b * n)).reshape(b, n) % 11)


def main():
    """Batch a map over eight devices in both orders, and compare with one device.

    >>> main()
    vmap(pmap) equals one device: True
    pmap(vmap) equals one device: True
    with its name, the batch stays split: True
    """
    x, expected = batch(), jax.device_get(reference(center)(batch()))
    for name, way in (("vmap(pmap)", vmap_of_pmap), ("pmap(vmap)", pmap_of_vmap)):
        equal = bool((jax.device_get(way(center)(x)) == expected).all())
        print(f"{name} equals one device: {equal}")
    types = (AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, 4), ("batch", "rows"), axis_types=types)
    on_grid = jax.device_put(x, NamedSharding(mesh, GRID))
    named = jax.vmap(over_rows(center, mesh), spmd_axis_name="batch")
    split = jax.jit(named)(on_grid).sharding.spec == GRID
    print(f"with its name, the batch stays split: {split}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
