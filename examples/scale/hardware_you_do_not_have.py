"""Lower a model of 8.6 billion weights, replicated or sharded over eight devices.

The page compiles both ways for devices that are here; what the compilers of other
hardware say of them is kept beside this file.

Run it: `python -m examples.scale.hardware_you_do_not_have`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding, reshard

from examples.scale.plan import needs

SIZES = 64, 4096, 16384  # layers, width, hidden: 8.6 billion weights of two bytes
REPLICATED = P(), P()  # both stacks of weights, all of them on every device
SHARDED = P(None, "rows"), P(None, None, "rows")  # over the width, an eighth on each


def reference(up, down, x):
    """Return what the model makes of x, (n, width), by a loop in NumPy."""
    for u, d in zip(up, down, strict=True):
        x = x + np.maximum(x @ u, 0) @ d
    return x


def model(mesh):
    """Return the jitted model; each layer gathers its weights when it is used."""
    replicated = NamedSharding(mesh, P())

    def layer(x, weights):
        up, down = (reshard(w, replicated) for w in weights)
        return x + jax.nn.relu(x @ up) @ down, None

    return jax.jit(lambda up, down, x: lax.scan(layer, x, (up, down))[0])


def shapes(mesh, specs, sizes=SIZES, dtype=jnp.bfloat16):
    """Return two stacks of weights and 64 rows for each device, all as shapes."""
    layers, width, hidden = sizes
    arrays = (layers, width, hidden), (layers, hidden, width), (64 * mesh.size, width)
    return [
        jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))
        for shape, spec in zip(arrays, (*specs, P("rows")), strict=True)
    ]


def numbers(mesh, specs):
    """Return whole numbers in float32 for a model of 3 layers, 8 wide, 16 hidden."""
    draw = np.random.default_rng(8)
    return [
        jax.device_put(draw.integers(-1, 2, s.shape).astype(np.float32), s.sharding)
        for s in shapes(mesh, specs, (3, 8, 16), jnp.float32)
    ]


def lower(mesh):
    """Lower the model with replicated weights."""
    return model(mesh).lower(*shapes(mesh, REPLICATED))


def lower_split(mesh):
    """Lower the model with an eighth of every weight on each device."""
    return model(mesh).lower(*shapes(mesh, SHARDED))


def main():
    """Compile both ways for eight devices that are here.

    >>> main()
    sharded weights need less than a quarter of the memory: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    sharded, replicated = needs(lower_split(mesh)), needs(lower(mesh))
    refused = isinstance(replicated, str)  # they are more than a device has
    less = isinstance(sharded, int) and (refused or sharded < replicated / 4)
    print(f"sharded weights need less than a quarter of the memory: {less}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
