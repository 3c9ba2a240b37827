"""Keep an array whole on every device, or on some, and know what it costs.

Why it is hard: `x.nbytes` and `x.shape` are those of one copy, whatever lies on the
devices, and nothing says how many copies there are or whether they agree.
What finishes it: the shards. Each knows its piece, its device and, by `replica_id`,
which copy of the piece it is.

Run it: `python -m examples.mesh.replicated`
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import NamedSharding

from examples.tools.traffic import sends

SPECS = P(), P("rows"), P(None, "inner"), P("rows", "inner")


class Held(NamedTuple):
    """What an array takes on the devices of this process, in bytes."""

    on_each: int
    in_all: int
    copies: int  # of each piece


def held(x):
    """Return what `x` takes: its shards are counted, every copy of them."""
    sizes = [shard.data.nbytes for shard in x.addressable_shards]
    ids = {shard.replica_id for shard in x.addressable_shards}
    return Held(max(sizes), sum(sizes), len(ids))


def agree(x):
    """Return whether all copies of each piece of `x` hold the same numbers."""
    shards = [(f"{shard.index}", shard) for shard in x.addressable_shards]
    first = {piece: shard.data for piece, shard in shards if shard.replica_id == 0}
    return all(np.array_equal(shard.data, first[piece]) for piece, shard in shards)


def reference(rows, weights):
    """Return `rows @ weights` by NumPy."""
    return np.asarray(rows) @ np.asarray(weights)


def numbers():
    """Return rows, (64, 64), and weights, (64, 32): whole numbers in float32."""
    table = np.arange(4096, dtype=np.float32).reshape(64, 64) % 7
    return table, table[:, :32] % 5


def put(x, mesh, spec):
    """Return `x` on `mesh`, split as `spec`."""
    return jax.device_put(x, NamedSharding(mesh, spec))


def everywhere(mesh):
    """Return a jitted function that makes its argument whole on every device."""
    return jax.jit(lambda x: x, out_shardings=NamedSharding(mesh, P()))


def lower(mesh):
    """Lower split rows times whole weights: 4 MiB of rows on each device."""
    shapes = [((1024 * mesh.size, 1024), P("rows")), ((1024, 1024), P())]
    inputs = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))
        for shape, spec in shapes
    ]
    return jax.jit(jnp.matmul).lower(*inputs)


def lower_everywhere(mesh):
    """Lower the way from split rows, 8 MiB in all, to whole ones on every device."""
    split = NamedSharding(mesh, P("rows"))
    rows = jax.ShapeDtypeStruct((2 * mesh.size, 1024), jnp.float32, sharding=split)
    return everywhere(mesh).lower(rows)


def main():
    """Put rows on eight devices in four ways, and print what each takes.

    >>> main()
    rows take 16384 bytes
    P()                  Held(on_each=16384, in_all=131072, copies=8)
    P('rows',)           Held(on_each=4096, in_all=32768, copies=2)
    P(None, 'inner')     Held(on_each=8192, in_all=65536, copies=4)
    P('rows', 'inner')   Held(on_each=2048, in_all=16384, copies=1)
    split rows times whole weights: right, 0 collectives
    """
    mesh = jax.make_mesh((4, 2), ("rows", "inner"))
    rows, weights = numbers()
    print(f"rows take {rows.nbytes} bytes")
    for spec in SPECS:
        x = put(rows, mesh, spec)
        assert agree(x) and np.array_equal(x, rows), spec
        print(f"{spec!s:20} {held(x)}")
    operands = put(rows, mesh, P("rows")), put(weights, mesh, P())
    right = np.array_equal(jnp.matmul(*operands), reference(rows, weights))
    assert right
    count = len(sends(jax.jit(jnp.matmul).lower(*operands)))
    print(f"split rows times whole weights: right, {count} collectives")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
