"""Lower a data-parallel gradient for a mesh of any size: one all-reduce of the weights.

The loss is averaged over the devices and then differentiated, which is what a training
step inside `shard_map` does; the page of the same name says why, and proves it.

Run it: `python -m examples.shard_map.gradients`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding


def error(params, x, y):
    """Return half the mean squared error: {"w": (k,), "b": ()}, (m, k) and (m,)."""
    return ((x @ params["w"] + params["b"] - y) ** 2).mean() / 2


def mean_error(params, x, y):
    """Return the mean of the errors of all devices, which have as many rows: ()."""
    return lax.pmean(error(params, x, y), "rows")


def gradient(mesh):
    """Return the gradient of `mean_error`, as a function of params and sharded rows."""
    body, rows = jax.grad(mean_error), P("rows")
    specs = (P(), rows, rows)
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P()))


def lower(mesh):
    """Lower the gradient of `mean_error` for a mesh of any size: 4 MiB of weights."""
    k, rows = 2**20, NamedSharding(mesh, P("rows"))

    def shape(*dims, sharding=rows):
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=sharding)

    everywhere = NamedSharding(mesh, P())
    params = {"w": shape(k, sharding=everywhere), "b": shape(sharding=everywhere)}
    return gradient(mesh).lower(params, shape(8 * mesh.size, k), shape(8 * mesh.size))


def main():
    """Compare the gradient on eight devices with the gradient on one.

    >>> main()
    on eight devices as on one: True
    """
    mesh = jax.make_mesh((8,), ("rows",), devices=jax.devices()[:8])
    x = np.arange(48, dtype=np.float32).reshape(16, 3) % 5
    y = np.arange(16, dtype=np.float32) % 7
    params = {"w": np.array([1, 2, 3], np.float32), "b": np.float32(1)}
    rows = jax.device_put((x, y), NamedSharding(mesh, P("rows")))
    found, alone = gradient(mesh)(params, *rows), jax.grad(error)(params, x, y)
    equal = jax.tree.all(jax.tree.map(np.array_equal, found, alone))
    print(f"on eight devices as on one: {equal}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
