"""Lower a loss that is gathered on every device, and its gradient, for any mesh.

The gathered numbers are typed as replicated, which the page of the same name explains:
so the loss may leave the map under `P()`, and its gradient is that of one loss.

Run it: `python -m examples.shard_map.varying`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

ROWS = P("rows")


def total(w, x):
    """Return the sum of all products on every device, by gathering them: ()."""
    return lax.all_gather((w * x).sum(), "rows", to="invarying").sum()


def value_and_slope(mesh):
    """Return the function of w, (), and sharded x that gives `total` and its slope."""
    body = jax.value_and_grad(total)
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=(P(), ROWS), out_specs=P()))


def lower(mesh):
    """Lower `value_and_slope` for a mesh of any size, with 4 MiB on each device."""
    x = jax.ShapeDtypeStruct(
        (8192 * mesh.size, 128), jnp.float32, sharding=NamedSharding(mesh, ROWS)
    )
    w = jax.ShapeDtypeStruct((), jnp.float32, sharding=NamedSharding(mesh, P()))
    return value_and_slope(mesh).lower(w, x)


def main():
    """Compare the loss and its gradient on eight devices with a sum by NumPy.

    >>> main()
    loss 2256, gradient 1128, of numbers that add up to 1128
    """
    mesh = jax.make_mesh((8,), ("rows",), devices=jax.devices()[:8])
    numbers = np.arange(48, dtype=np.float32)
    x = jax.device_put(numbers, NamedSharding(mesh, ROWS))
    loss, slope = value_and_slope(mesh)(np.float32(2), x)
    print(f"loss {loss:.0f}, gradient {slope:.0f}, ", end="")
    print(f"of numbers that add up to {numbers.sum():.0f}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
