"""Print which device holds which piece of an array, and put the array on another cut.

Why it is hard: an array that lies on eight devices looks like any other. Its shape and
its `nbytes` are those of the whole, and none of its numbers says where it is.
What finishes it: the array keeps its sharding and its pieces, and both can be read:
where a piece sits in the whole, on which device, and which of its copies it is.

Run it: `python -m examples.mesh.who_holds_what`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import NamedSharding

from examples.tools.devices import who_holds_what


def assemble(x):
    """Return `x` as NumPy, put together from the pieces of its devices, copy over copy.

    Equal to `np.asarray(x)` where this process has all the devices.
    """
    whole = np.empty(x.shape, x.dtype)
    for shard in x.addressable_shards:
        whole[shard.index] = shard.data
    return whole


def lower(mesh):
    """Lower the move from rows to columns, of 1 MiB or more on each device."""
    cut = partial(NamedSharding, mesh)
    n = mesh.size
    shape = n * -(-2048 // n), 128 * n  # both are multiples of n
    x = jax.ShapeDtypeStruct(shape, jnp.float32, sharding=cut(P("rows")))
    return jax.jit(lambda x: x, out_shardings=cut(P(None, "rows"))).lower(x)


def main():
    """Put a table on a grid of eight devices, read it back, and cut it otherwise.

    >>> main()
    rows 0, inner 0: x[0:2, 0:4], copy 0, 32 B
    rows 0, inner 1: x[0:2, 0:4], copy 1, 32 B
    rows 0, inner 2: x[0:2, 0:4], copy 2, 32 B
    rows 0, inner 3: x[0:2, 0:4], copy 3, 32 B
    rows 1, inner 0: x[2:4, 0:4], copy 0, 32 B
    rows 1, inner 1: x[2:4, 0:4], copy 1, 32 B
    rows 1, inner 2: x[2:4, 0:4], copy 2, 32 B
    rows 1, inner 3: x[2:4, 0:4], copy 3, 32 B
    the pieces make up the table: True
    cut otherwise, it holds the same numbers: True
    """
    mesh = jax.make_mesh((2, 4), ("rows", "inner"))
    table = np.arange(16, dtype=np.float32).reshape(4, 4)
    x = jax.device_put(table, NamedSharding(mesh, P("rows")))
    who_holds_what(x)
    finer = jax.device_put(x, NamedSharding(mesh, P("rows", "inner")))
    claims = {
        "the pieces make up the table": np.array_equal(assemble(x), table),
        "cut otherwise, it holds the same numbers": np.array_equal(finer, table),
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
