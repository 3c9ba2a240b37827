"""Lower sends from each device to one other, and rings that are made of them.

`reference` is `lax.ppermute` on a list with the shard of each device. `ring_all_gather`
and `ring_psum_scatter` do in n - 1 hops what the collectives of that name do at once.

Run it: `python -m examples.collectives.ppermute`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.collectives.all_to_all import ROWS, on_rows
from examples.collectives.blocks import blocks_of


def reference(blocks, perm):
    """Return what each device holds after `ppermute`, from what each held before."""
    received = [np.zeros_like(block) for block in blocks]
    for source, target in perm:
        received[target] = blocks[source]
    return received


def ring(n, by=1):
    """Return the pairs in which each of n devices sends `by` places on, around."""
    return [(d, (d + by) % n) for d in range(n)]


def shift(n, by=1):
    """Return the pairs of `ring` that do not go around: `by` devices get nothing."""
    return [(d, d + by) for d in range(n) if 0 <= d + by < n]


def swap(n):
    """Return the pairs in which devices 0 and 1 exchange, 2 and 3, and so on."""
    return [(d, d ^ 1) for d in range(n)]


def permuted(mesh, perm):
    """Return a function of rows, (m, ...), whose shards go where `perm` says."""

    def body(block):
        return lax.ppermute(block, "rows", perm)

    return on_rows(mesh, body)


def ring_all_gather(block, name="rows", steps=None):
    """Return all shards in order: on each of n devices, (k, ...) gives (n k, ...).

    With fewer than n - 1 steps, what has not arrived is zero.
    """
    n, me = lax.axis_size(name), lax.axis_index(name)
    gathered = jnp.zeros((n, *block.shape), block.dtype).at[me].set(block)
    for step in range(1, n if steps is None else steps + 1):
        block = lax.ppermute(block, name, ring(n))  # now that of device me - step
        gathered = gathered.at[(me - step) % n].set(block)
    return gathered.reshape(-1, *block.shape[1:])


def ring_psum_scatter(block, name="rows", steps=None):
    """Return one part of the sum: on each of n devices, (n k, ...) gives (k, ...).

    Device d gets part d. With fewer than n - 1 steps it holds a sum of `steps` + 1.
    """
    n, me = lax.axis_size(name), lax.axis_index(name)
    parts = block.reshape(n, -1, *block.shape[1:])
    total = parts[(me - 1) % n]  # for device me - 1, which it reaches last
    for step in range(1, n if steps is None else steps + 1):
        total = lax.ppermute(total, name, ring(n)) + parts[(me - 1 - step) % n]
    return total


def numbers(n=8, each=2):
    """Return whole numbers, float32 (n * each,): those of device d have d as tens."""
    tens, ones = jnp.arange(float(n))[:, None], jnp.arange(1.0, each + 1)
    return (10 * tens + ones).reshape(-1)


def _lower(mesh, body, rows):
    """Lower `body` for rows of 128 float32, as many as each device of `mesh` holds."""
    x = jax.ShapeDtypeStruct(
        (rows * mesh.size, 128),
        jnp.float32,
        sharding=NamedSharding(mesh, P(mesh.axis_names)),
    )
    one = P(mesh.axis_names)
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=one, out_specs=one)).lower(x)


def _groups_of(n, mesh):
    """Return the devices of `mesh` as groups, "rows", of `n`, "inner"."""
    return Mesh(
        mesh.devices.reshape(-1, n),
        ("rows", "inner"),
        axis_types=(AxisType.Explicit,) * 2,
    )


def lower(mesh):
    """Lower a ring for a mesh of any size, with 4 MiB on each device."""
    return _lower(
        mesh, lambda block: lax.ppermute(block, "rows", ring(mesh.size)), 8192
    )


def lower_in_pairs(mesh):
    """Lower a swap between pairs of devices, with 64 KiB on each device."""
    return _lower(
        _groups_of(2, mesh), lambda block: lax.ppermute(block, "inner", ring(2)), 128
    )


def lower_ring_all_gather(mesh):
    """Lower rings of eight devices that gather what each holds, 4 MiB."""
    return _lower(
        _groups_of(8, mesh), lambda block: ring_all_gather(block, "inner"), 8192
    )


def lower_ring_psum_scatter(mesh):
    """Lower rings of eight devices that add what each holds, 4 MiB, and keep parts."""
    return _lower(
        _groups_of(8, mesh), lambda block: ring_psum_scatter(block, "inner"), 8192
    )


def main():
    """Compare each list of pairs with its list, and rings with collectives.

    >>> main()
    ring True
    shift True
    swap True
    ring_all_gather True
    ring_psum_scatter True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    x = jax.device_put(numbers(each=8), NamedSharding(mesh, ROWS))
    for way in (ring, shift, swap):
        found, expected = permuted(mesh, way(8))(x), reference(blocks_of(x), way(8))
        print(way.__name__, np.array_equal(blocks_of(found), expected))
    for by_ring in (ring_all_gather, ring_psum_scatter):
        collective = getattr(lax, by_ring.__name__.removeprefix("ring_"))
        at_once = on_rows(mesh, lambda x, f=collective: f(x, "rows", tiled=True))
        print(by_ring.__name__, np.array_equal(on_rows(mesh, by_ring)(x), at_once(x)))


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
