"""Compile a model for TPUs and GPUs that are not here, and see whether it fits.

Why it is hard: a program fits or does not fit once its compiler has placed every
buffer, and one thinks of a TPU's compiler as of something inside a TPU.
What finishes it: the compiler is a library, `libtpu`, and runs on any Linux machine. It
takes the name of a topology for devices, and shapes for arrays.

Run it: `pip install "jax[tpu]"`, then
`python -m examples.scale.hardware_you_do_not_have v5e:2x4 v5p:2x2x2`; or, with
`jax[cuda13]`, give it a text that describes a GPU, `examples/scale/h100.txtpb`.
Without a name it compiles for eight devices that are here.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding, reshard

from examples.scale.plan import fits, meshes

SIZES = 64, 4096, 16384  # layers, width, hidden: 8.6 billion weights of two bytes
WHOLE = P(), P()  # both stacks of weights: all of them on every device
SPLIT = P(None, "rows"), P(None, None, "rows")  # by the width: a share on each


def reference(up, down, x):
    """Return what the model makes of x, (n, width), by a loop in NumPy."""
    for u, d in zip(up, down, strict=True):
        x = x + np.maximum(x @ u, 0) @ d
    return x


def model(mesh):
    """Return the jitted model; each layer's weights become whole when it is used."""
    whole = NamedSharding(mesh, P())

    def layer(x, weights):
        up, down = (reshard(w, whole) for w in weights)
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
    """Lower the model with all its weights on every device."""
    return model(mesh).lower(*shapes(mesh, WHOLE))


def lower_split(mesh):
    """Lower the model with a share of every weight on each device."""
    return model(mesh).lower(*shapes(mesh, SPLIT))


def main(topologies=()):
    """Compile both ways for each topology, or for eight devices that are here.

    >>> main()
    here: whole fits True, split fits True, in less memory True
    """
    for name, mesh in meshes(topologies).items():
        plans = {"whole": fits(lower(mesh)), "split": fits(lower_split(mesh))}
        fit = {way: isinstance(needed, int) for way, needed in plans.items()}
        print(f"{name}:", ", ".join(f"{way} fits {fit[way]}" for way in fit), end=", ")
        less = all(fit.values()) and plans["split"] < plans["whole"]
        print(f"in less memory {less}" if fit["whole"] else plans["whole"])


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main(sys.argv[1:])
