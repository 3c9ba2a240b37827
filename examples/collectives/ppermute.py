"""Send each block to one other device, and build larger collectives of such sends.

Why it is hard: a list of pairs says who sends to whom, and one that leaves a device
out is as good as one that does not: that device holds zeros.
What finishes it: lists made by a function, the list of blocks they mean, and a ring,
whose steps add up to a collective, in its numbers and in its bytes.

Run it: `python -m examples.collectives.ppermute`
"""

from functools import partial

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
    """Return a function of rows, (m, ...), whose blocks go where `perm` says."""

    def body(block):
        return lax.ppermute(block, "rows", perm)

    return on_rows(mesh, body)


def ring_all_gather(block, name="rows", steps=None):
    """Return all blocks in order: on each of n devices, (k, ...) gives (n k, ...).

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
    total = parts[(me - 1) % n]  # on its way to device me - 1, the long way around
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


def _groups_of_eight(mesh):
    """Return the devices of `mesh` as groups, "rows", of eight, "inner"."""
    return Mesh(
        mesh.devices.reshape(-1, 8),
        ("rows", "inner"),
        axis_types=(AxisType.Explicit,) * 2,
    )


def lower(mesh):
    """Lower a ring for a mesh of any size, with 4 MiB on each device."""
    return _lower(
        mesh, lambda block: lax.ppermute(block, "rows", ring(mesh.size)), 8192
    )


def lower_ring_all_gather(mesh):
    """Lower rings of eight devices that gather what each holds, 4 MiB."""
    return _lower(
        _groups_of_eight(mesh), lambda block: ring_all_gather(block, "inner"), 8192
    )


def lower_ring_psum_scatter(mesh):
    """Lower rings of eight devices that add what each holds, 4 MiB, and keep parts."""
    return _lower(
        _groups_of_eight(mesh), lambda block: ring_psum_scatter(block, "inner"), 8192
    )


def main():
    """Send blocks around, then gather and add by rings.

    >>> main()
    ring: what the list of blocks says: True
    shift: what the list of blocks says: True
    swap: what the list of blocks says: True
    the ring of seven steps is all_gather: True
    the ring of seven steps is psum_scatter: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    x = jax.device_put(numbers(each=8), NamedSharding(mesh, ROWS))
    claims = {}
    for way in (ring, shift, swap):
        found, expected = permuted(mesh, way(8))(x), reference(blocks_of(x), way(8))
        same = np.array_equal(blocks_of(found), expected)
        claims[f"{way.__name__}: what the list of blocks says"] = same
    pairs = {lax.all_gather: ring_all_gather, lax.psum_scatter: ring_psum_scatter}
    for collective, by_ring in pairs.items():
        expected = on_rows(mesh, partial(collective, axis_name="rows", tiled=True))(x)
        same = np.array_equal(on_rows(mesh, by_ring)(x), expected)
        claims[f"the ring of seven steps is {collective.__name__}"] = same
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
