"""Move pmap code to shard_map: one argument and one idiom after another.

Why it is hard: nothing in `shard_map` has the name that it had in `pmap`, the body sees
pieces where it saw rows, and the gradient of a shared weight means something else.
What finishes it: one wrapper that takes the mapped axis off and puts it back, the name
and the devices in a mesh, the axes in specs, and the rest in `jit`.

Run it: `python -m examples.pmap.move_to_shard_map`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

ROWS = P("rows")


def block(fn):
    """Return `fn`, which takes rows, for pieces: length one in front, in and out."""

    def on_pieces(*pieces):
        out = fn(*jax.tree.map(lambda piece: piece[0], pieces))
        return jax.tree.map(lambda row: jnp.expand_dims(row, 0), out)

    return on_pieces


def sharded(fn, mesh, in_specs=ROWS, out_specs=ROWS, **options):
    """Return `fn`, which takes pieces, over a mesh; `options` are those of `jit`."""
    specs = {"in_specs": in_specs, "out_specs": out_specs}
    return jax.jit(jax.shard_map(fn, mesh=mesh, **specs), **options)


def center(row):
    """Return a row less the mean of all rows: (k,) gives (k,)."""
    return row - lax.pmean(row, "rows")


def summary(row):
    """Return a row, (k,), and the sum of all rows, (k,), in a dict."""
    return {"row": row, "total": lax.psum(row, "rows")}


def summary_of_piece(piece):
    """Return the same of a piece, (1, k), with the mapped axis second in the row."""
    found = summary(piece[0])
    return {"row": jnp.expand_dims(found["row"], 1), "total": found["total"]}


def noise(key):
    """Return three numbers of a normal distribution: a key gives (3,)."""
    return jax.random.normal(key, (3,))


def loss(w, d):
    """Return a loss whose gradient to `w` is the sum of `d`: () and any shape."""
    return (w * d).sum()


def averaged(w, d):
    """Return the mean over devices of the gradient, as code for pmap writes it: ()."""
    return lax.pmean(jax.grad(loss)(w, d), "rows")


def mean_loss(w, d):
    """Return the mean over devices of the loss: ()."""
    return lax.pmean(loss(w, d), "rows")


def own(w, d):
    """Return the mean of gradients that each device took for itself: ()."""
    return averaged(lax.pcast(w, "rows", to="varying"), d)


def equal(a, b):
    """Tell whether two trees hold equal arrays at equal places."""
    return jax.tree.all(jax.tree.map(np.array_equal, a, b))


def numbers():
    """Return whole numbers, float32 (8, 3), in NumPy: a row for each device."""
    return np.arange(24, dtype=np.float32).reshape(8, 3)


def lower(mesh):
    """Lower the moved function for a mesh of any size, with a row for each device."""
    row_each = jax.ShapeDtypeStruct(
        (mesh.size, 3), jnp.float32, sharding=NamedSharding(mesh, ROWS)
    )
    return sharded(block(center), mesh).lower(row_each)


def main():
    """Center rows, and average gradients, by both.

    >>> main()
    (8, 3) gives (8, 3) by both: True
    pmean of the gradient, by pmap and by shard_map: 3.5 28.0
    gradient of the pmean, by shard_map: 3.5
    """
    x = numbers()
    mesh = jax.make_mesh((8,), ("rows",))
    on_mesh = jax.device_put(x, NamedSharding(mesh, ROWS))
    old = jax.pmap(center, axis_name="rows")(x)
    new = sharded(block(center), mesh)(on_mesh)
    print(f"{x.shape} gives {new.shape} by both: {equal(old, new)}")

    shared, d = (P(), ROWS), np.arange(8, dtype=np.float32)
    on_rows = jax.device_put(d, NamedSharding(mesh, ROWS))
    old = jax.pmap(averaged, "rows", in_axes=(None, 0), out_axes=None)
    new = sharded(averaged, mesh, shared, P())
    means = float(old(2.0, d)), float(new(2.0, on_rows))
    print("pmean of the gradient, by pmap and by shard_map:", *means)
    right = sharded(jax.grad(mean_loss), mesh, shared, P())(2.0, on_rows)
    print(f"gradient of the pmean, by shard_map: {float(right)}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
