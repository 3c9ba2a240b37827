"""Cast the weights of a pipeline to varying before its turns, or leave it to JAX.

A replicated weight becomes varying where a device first uses it with values that
differ between devices, and there its gradient is added over the devices: of blocks in
every turn of the loop, and in place of a table's the one of all that it has embedded. A
compiler may move a sum out of the loop.

Run it: `python -m examples.train.cast_late`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import NamedSharding, P, lax
from jax.sharding import AxisType, Mesh

from examples.train.pipeline import pipeline

WIDTH, HIDDEN, MICROBATCHES = 1024, 4096, 8
SPECS = {"embed": P(), "up": P("stage"), "down": P("stage"), "head": P()}
BOTH = {"blocks", "tables"}


def block(own, x):
    """Return what one stage computes: rows of WIDTH, as many as it is given."""
    return x + jax.nn.gelu(x @ own["up"]) @ own["down"]


def mean_loss(params, x, y, early):
    """Return the mean loss as each device sees it: (). Cast what `early` names."""
    own = {name: params[name].squeeze(0) for name in ("up", "down")}
    tables = {name: params[name] for name in ("embed", "head")}
    if "blocks" in early:
        own = lax.pcast(own, "data", to="varying")
    if "tables" in early:
        tables = lax.pcast(tables, ("data", "stage"), to="varying")
    micro = x @ tables["embed"]
    if "tables" not in early:
        micro = lax.pcast(micro, "stage", to="varying")
    micro = micro.reshape(MICROBATCHES, -1, micro.shape[-1])
    results = pipeline(jax.checkpoint(partial(block, own)), micro)
    stages = lax.axis_size("stage")
    outputs = results[stages - 1 :].reshape(len(x), -1)
    value = ((outputs @ tables["head"] - y) ** 2).mean()
    last = lax.axis_index("stage") == stages - 1
    return lax.pmean(lax.psum(jnp.where(last, value, 0), "stage"), "data")


def gradient_of(early):
    """Return a function: the gradient of the mean loss, sharded as parameters are."""
    return jax.shard_map(
        jax.grad(partial(mean_loss, early=early)),
        in_specs=(SPECS, P("data"), P("data")),
        out_specs=SPECS,
    )


def lowered(early, mesh):
    """Lower a gradient for pipelines of four stages, 4,096 rows in each of them."""
    axes, types = ("data", "stage"), (AxisType.Explicit,) * 2
    mesh = Mesh(mesh.devices.reshape(-1, 4), axes, axis_types=types)
    rows = 4096 * mesh.shape["data"]

    def shaped(spec, *shape):
        place = NamedSharding(mesh, spec)
        return jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=place)

    params = {
        "embed": shaped(P(), WIDTH, WIDTH),
        "up": shaped(P("stage"), 4, WIDTH, HIDDEN),
        "down": shaped(P("stage"), 4, HIDDEN, WIDTH),
        "head": shaped(P(), WIDTH, 1),
    }
    batch = [shaped(P("data"), rows, width) for width in (WIDTH, 1)]
    with jax.set_mesh(mesh):
        return jax.jit(gradient_of(early)).lower(params, *batch)


def lower(mesh):
    """Lower the gradient of the program that casts all weights before the turns."""
    return lowered(BOTH, mesh)


def lower_blocks(mesh):
    """Lower the gradient of the program whose blocks are cast in every turn."""
    return lowered(BOTH - {"blocks"}, mesh)


def lower_tables(mesh):
    """Lower the gradient of the program that casts what it has embedded."""
    return lowered(BOTH - {"tables"}, mesh)


def main():
    """Compare the three gradients.

    >>> main()
    blocks late: True
    tables late: True
    """
    draw = np.random.default_rng(0)
    stages = min(4, jax.device_count())
    shapes = {"embed": (8, 16), "up": (stages, 16, 32)}
    shapes |= {"down": (stages, 32, 16), "head": (16, 1)}
    params = {name: draw.normal(size=shape) / 4 for name, shape in shapes.items()}
    params = jax.tree.map(np.float32, params)
    x, y = (draw.normal(size=(64, n)).astype(np.float32) for n in (8, 1))
    axes = (jax.device_count() // stages, stages), ("data", "stage")
    with jax.set_mesh(jax.make_mesh(*axes)):
        params = jax.device_put(params, SPECS)
        batch = jax.device_put((x, y), P("data"))
        expected = jax.jit(gradient_of(BOTH))(params, *batch)
        for late in "blocks", "tables":
            found = jax.jit(gradient_of(BOTH - {late}))(params, *batch)
            apart = {
                n: abs(found[n] - expected[n]).max() / abs(expected[n]).max()
                for n in params
            }
            print(f"{late} late: {max(apart.values()) < 0.05}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
