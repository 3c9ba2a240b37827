"""Lower exchanges between all devices, and say in NumPy what they are.

`reference` is `lax.all_to_all` on a list with the shard of each device. `to_columns`
and `to_rows` change the dimension that is sharded; `by_heads` attends over a sequence
that is sharded.

Run it: `python -m examples.collectives.all_to_all`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.collectives.blocks import blocks_of

ROWS, COLUMNS = P("rows"), P(None, "rows")


def reference(blocks, split_axis, concat_axis, tiled=False):
    """Return what each device holds after `all_to_all`, from what each held before."""
    n, join = len(blocks), np.concatenate if tiled else np.stack
    parts = [np.split(block, n, split_axis) for block in blocks]
    if not tiled:  # a part is one long there, and that axis goes
        parts = [[part.squeeze(split_axis) for part in cut] for cut in parts]
    return [join(received, concat_axis) for received in zip(*parts, strict=True)]


def on_rows(mesh, body):
    """Return `body` mapped over `mesh`, from sharded rows to sharded rows."""
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS))


def to_columns(mesh):
    """Return a function from (m, k) sharded by rows to the same, sharded by columns.

    On one device: (m/n, k) becomes (m, k/n), for n devices.
    """

    def body(block):
        return lax.all_to_all(block, "rows", split_axis=1, concat_axis=0, tiled=True)

    specs = {"in_specs": ROWS, "out_specs": COLUMNS}
    return jax.jit(jax.shard_map(body, mesh=mesh, **specs))


def to_rows(mesh):
    """Return the inverse: on one device, (m, k/n) becomes (m/n, k)."""

    def body(block):
        return lax.all_to_all(block, "rows", split_axis=0, concat_axis=1, tiled=True)

    specs = {"in_specs": COLUMNS, "out_specs": ROWS}
    return jax.jit(jax.shard_map(body, mesh=mesh, **specs))


def attention(q, k, v):
    """Let each position look at those before it: (s, h, d) thrice give (s, h, d).

    Without the softmax, so that whole numbers stay whole.
    """
    weights = jnp.tril(jnp.einsum("qhd,khd->hqk", q, k))
    return jnp.einsum("hqk,khd->qhd", weights, v)


def by_heads(q, k, v, name="rows"):
    """Attend over a sequence that is sharded: on each device, (s/n, h, d) thrice."""
    whole = partial(lax.all_to_all, axis_name=name, split_axis=1, concat_axis=0)
    heads = [whole(x, tiled=True) for x in (q, k, v)]  # (s, h/n, d)
    return lax.all_to_all(attention(*heads), name, 0, 1, tiled=True)


def lower(mesh):
    """Lower `to_columns` for a mesh of any size, with about 4 MiB on each device."""
    rows = max(1, 2**20 // (128 * mesh.size))
    x = jax.ShapeDtypeStruct(
        (rows * mesh.size, 128 * mesh.size),
        jnp.float32,
        sharding=NamedSharding(mesh, ROWS),
    )
    return to_columns(mesh).lower(x)


def lower_in_pairs(mesh):
    """Lower an exchange between pairs of devices, with 64 KiB on each device."""
    axes = ("rows", "inner")
    grid = Mesh(mesh.devices.reshape(-1, 2), axes, axis_types=(AxisType.Explicit,) * 2)
    split = NamedSharding(grid, P(axes))
    x = jax.ShapeDtypeStruct((128 * mesh.size, 128), jnp.float32, sharding=split)

    def body(block):
        return lax.all_to_all(block, "inner", split_axis=1, concat_axis=1, tiled=True)

    specs = {"in_specs": P(axes), "out_specs": P(axes)}
    return jax.jit(jax.shard_map(body, mesh=grid, **specs)).lower(x)


def lower_by_heads(mesh):
    """Lower `by_heads` on a mesh of any size, in groups of eight devices.

    Each group has sequences of its own: eight heads, 1 MiB of q on each device.
    """
    grid = Mesh(
        mesh.devices.reshape(-1, 8),
        ("rows", "inner"),
        axis_types=(AxisType.Explicit,) * 2,
    )
    one = P("rows", "inner")
    x = jax.ShapeDtypeStruct(
        (grid.shape["rows"], 2048, 8, 128),
        jnp.float32,
        sharding=NamedSharding(grid, one),
    )
    body = jax.vmap(partial(by_heads, name="inner"))
    return jax.jit(jax.shard_map(body, mesh=grid, in_specs=one, out_specs=one)).lower(
        x, x, x
    )


def main():
    """Turn rows into columns and back, and compare with the list.

    >>> main()
    on one device (1, 8), then (8, 1)
    as the list says: True
    the same array: True
    there and back: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    table = np.arange(64, dtype=np.float32).reshape(8, 8)
    x = jax.device_put(table, NamedSharding(mesh, ROWS))
    columns = to_columns(mesh)(x)
    before, after = blocks_of(x), blocks_of(columns)
    print(f"on one device {before[0].shape}, then {after[0].shape}")
    expected = reference(before, 1, 0, tiled=True)
    print("as the list says:", np.array_equal(after, expected))
    print("the same array:", np.array_equal(columns, x))
    print("there and back:", np.array_equal(to_rows(mesh)(columns), x))


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
