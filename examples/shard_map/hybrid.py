"""Sum gradients by hand over one mesh axis, and leave the other to the compiler.

Why it is hard: between groups of devices the links may be slow, and you want to say
what crosses them; inside of a group the compiler divides the layers well, and by hand
that would be many collectives to write.
What finishes it: `axis_names={"rows"}`. The body then has its own rows and no other
axis: what is split over "model" has its whole shape there, and the compiler divides it.

Run it: `python -m examples.shard_map.hybrid`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.tools.traffic import sends

TYPES = (AxisType.Explicit, AxisType.Auto)  # of "rows", by hand, and of "model"


def loss(params, x, y):
    """Return half the squared error of two layers: (k, m), (m, n), (r, k), (r, n)."""
    hidden = jax.nn.relu(x @ params["w"])
    return ((hidden @ params["v"] - y) ** 2).sum() / 2


reference = jax.grad(loss)  # on one device, with all rows


def summed(gradient):
    """Return the sum over "rows" of a gradient, sent as it is: any shape."""
    return lax.psum(gradient, "rows")


def in_bytes(gradient, step=1):
    """Return the sum over "rows" of a gradient, sent as one byte for each number.

    Numbers are rounded to multiples of `step`; their sum has to fit: -128 to 127 steps.
    """
    steps = jnp.round(gradient / step).astype(jnp.int8)
    return step * lax.psum(steps, "rows").astype(gradient.dtype)


def hybrid(combine, loss=loss):
    """Return a body: the gradient of this group's rows, and then `combine`d."""

    def body(params, x, y):
        own = lax.pcast(params, "rows", to="varying")
        return jax.tree.map(combine, jax.grad(loss)(own, x, y))

    return body


def over_rows(mesh, body):
    """Return `body`, compiled, by hand over "rows"; the compiler has the other axis."""
    specs = {"in_specs": (P(), P("rows"), P("rows")), "out_specs": P()}
    return jax.jit(jax.shard_map(body, mesh=mesh, axis_names={"rows"}, **specs))


def axis_of(sent, mesh):
    """Return the mesh axis along which the devices of a collective talk, or None."""
    positions = np.arange(mesh.size).reshape(mesh.devices.shape)
    talking = {tuple(sorted(group)) for group in sent.groups}
    for n, name in enumerate(mesh.axis_names):
        groups = np.moveaxis(positions, n, -1).reshape(-1, mesh.devices.shape[n])
        if set(map(tuple, groups.tolist())) == talking:
            return name
    return None


def by_axis(mesh, stage):
    """Return `{axis: [(kind, bytes that one device puts in)]}` of a lowered program."""
    found = {}
    for sent in sends(stage):
        found.setdefault(axis_of(sent, mesh), []).append((sent.kind, sent.operand))
    return found


def batch():
    """Return weights {"w": (4, 8), "v": (8, 2)}, and rows (8, 4), (8, 2), in NumPy."""
    numbers = np.random.default_rng(4)
    w, v = numbers.integers(-1, 2, (4, 8)), numbers.integers(-1, 2, (8, 2))
    x, y = numbers.integers(0, 2, (8, 4)), numbers.integers(0, 3, (8, 2))
    given = {"w": w, "v": v}, x, y
    return jax.tree.map(lambda a: a.astype(np.float32), given)


def place(mesh, params, x, y):
    """Return the batch on the mesh: layers split over "model", rows over "rows"."""
    specs = {"w": P(None, "model"), "v": P("model")}, P("rows"), P("rows")
    shardings = jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs)
    return jax.device_put((params, x, y), shardings)


def lower(mesh, combine=summed):
    """Lower the sum of floats for a mesh of any size, as pairs that share a model."""
    pairs = Mesh(mesh.devices.reshape(-1, 2), ("rows", "model"), axis_types=TYPES)
    count = 64 * pairs.shape["rows"]

    def shape(*dims, spec):
        sharding = NamedSharding(pairs, spec)
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=sharding)

    w = shape(1024, 8192, spec=P(None, "model"))
    v = shape(8192, 1024, spec=P("model"))
    x = y = shape(count, 1024, spec=P("rows"))
    return over_rows(pairs, hybrid(combine)).lower({"w": w, "v": v}, x, y)


def lower_in_bytes(mesh):
    """Lower the sum of bytes for a mesh of any size."""
    return lower(mesh, in_bytes)


def main():
    """Sum gradients over "rows" as floats and as bytes, and see who talks to whom.

    >>> main()
    both equal one device's: True
    over rows, floats: all-reduce, bytes: all-reduce of a quarter
    over model: all-reduce, written by nobody
    """
    names = ("rows", "model")
    mesh = jax.make_mesh((4, 2), names, axis_types=TYPES)
    given, expected = place(mesh, *batch()), reference(*batch())
    ways = [over_rows(mesh, hybrid(combine)) for combine in (summed, in_bytes)]
    answers = [way(*given) for way in ways]
    equal = [jax.tree.map(np.array_equal, answer, expected) for answer in answers]
    print(f"both equal one device's: {jax.tree.all(equal)}")
    floats, small = (by_axis(mesh, way.lower(*given)) for way in ways)
    total = [sum(size for _, size in found["rows"]) for found in (floats, small)]
    assert total[0] == 4 * total[1]
    kinds = [found["rows"][0][0] for found in (floats, small)]
    print(f"over rows, floats: {kinds[0]}, bytes: {kinds[1]} of a quarter")
    print(f"over model: {floats['model'][0][0]}, written by nobody")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
