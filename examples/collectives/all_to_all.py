"""Turn rows that are split over devices into columns that are, and back.

Why it is hard: two axes take part, one that is cut and one that grows, and the wrong
two give an array of a shape that often fits as well.
What finishes it: the list of blocks it means; a count of what one device sends; and
the way back, which is the same call with the two axes exchanged.

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
    """Return `body` run on each device of `mesh`, from split rows to split rows."""
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=ROWS, out_specs=ROWS))


def to_columns(mesh):
    """Return a function from (m, k) split by rows to the same array split by columns.

    On one device: (m/n, k) becomes (m, k/n), for n devices.
    """

    def body(block):
        return lax.all_to_all(block, "rows", split_axis=1, concat_axis=0, tiled=True)

    specs = {"in_specs": ROWS, "out_specs": COLUMNS}
    return jax.jit(jax.shard_map(body, mesh=mesh, **specs))


def to_rows(mesh):
    """Return the way back: on one device, (m, k/n) becomes (m/n, k)."""

    def body(block):
        return lax.all_to_all(block, "rows", split_axis=0, concat_axis=1, tiled=True)

    specs = {"in_specs": COLUMNS, "out_specs": ROWS}
    return jax.jit(jax.shard_map(body, mesh=mesh, **specs))


def transposed(mesh):
    """Return a function from (m, k) split by rows to its transpose, (k, m), by rows."""

    def body(block):  # (m/n, k)
        columns = lax.all_to_all(block, "rows", 1, 0, tiled=True)  # (m, k/n)
        return columns.T

    return on_rows(mesh, body)


def by_experts(tokens, scale):
    """Send tokens to the devices of their experts, scale them there, bring them back.

    tokens: on each device (n, c, w), where row e holds what is for expert e.
    scale: on each device (1,), what its own expert multiplies by.
    """
    arrived = lax.all_to_all(tokens, "rows", 0, 0, tiled=True)  # row d is from device d
    return lax.all_to_all(scale * arrived, "rows", 0, 0, tiled=True)


def attention(q, k, v):
    """Let each place look at those before it: (s, h, d) three times give (s, h, d).

    Without the softmax, so that whole numbers stay whole.
    """
    weights = jnp.tril(jnp.einsum("qhd,khd->hqk", q, k))
    return jnp.einsum("hqk,khd->qhd", weights, v)


def by_heads(q, k, v, name="rows"):
    """Attend over a sequence that is split: on each device, (s/n, h, d) three times."""
    whole = partial(lax.all_to_all, axis_name=name, split_axis=1, concat_axis=0)
    heads = [whole(x, tiled=True) for x in (q, k, v)]  # (s, h/n, d)
    return lax.all_to_all(attention(*heads), name, 0, 1, tiled=True)


def table():
    """Return 64 distinct whole numbers, float32 (8, 8): row d has d as its tens."""
    tens, ones = jnp.arange(8.0)[:, None], jnp.arange(1.0, 9)
    return 10 * tens + ones


def lower(mesh):
    """Lower `to_columns` for a mesh of any size, with about 4 MiB on each device."""
    rows = max(1, 2**20 // (128 * mesh.size))
    x = jax.ShapeDtypeStruct(
        (rows * mesh.size, 128 * mesh.size),
        jnp.float32,
        sharding=NamedSharding(mesh, ROWS),
    )
    return to_columns(mesh).lower(x)


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
    """Change rows into columns and back, transpose, and use both.

    >>> main()
    on one device (1, 8), then (8, 1)
    each device holds what the list of blocks says: True
    the array is the same: True
    there and back changes nothing: True
    with the blocks turned it is the transpose: True
    tokens that visit their experts come back scaled: True
    attention by heads is attention: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    split = NamedSharding(mesh, ROWS)
    x = jax.device_put(table(), split)
    columns = to_columns(mesh)(x)
    before, after = blocks_of(x), blocks_of(columns)
    print(f"on one device {before[0].shape}, then {after[0].shape}")
    tokens, scale = jnp.arange(384.0).reshape(64, 2, 3), jnp.arange(8.0)
    visited = tokens.reshape(8, 8, 2, 3) * scale.reshape(8, 1, 1)
    q, k, v = (jnp.arange(384.0).reshape(16, 8, 3) % n for n in (5, 7, 3))
    claims = {
        "each device holds what the list of blocks says": np.array_equal(
            after, reference(before, 1, 0, tiled=True)
        ),
        "the array is the same": np.array_equal(columns, table()),
        "there and back changes nothing": np.array_equal(to_rows(mesh)(columns), x),
        "with the blocks turned it is the transpose": np.array_equal(
            transposed(mesh)(x), table().T
        ),
        "tokens that visit their experts come back scaled": np.array_equal(
            on_rows(mesh, by_experts)(*jax.device_put((tokens, scale), split)),
            visited.reshape(64, 2, 3),
        ),
        "attention by heads is attention": np.array_equal(
            on_rows(mesh, by_heads)(*jax.device_put((q, k, v), split)),
            attention(q, k, v),
        ),
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
