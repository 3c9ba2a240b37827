"""Lower seven collectives in one program, and say in NumPy what they are.

`references` is each of them on a list with the shard of each device, `RING` the bytes
that one device sends.

Run it: `python -m examples.collectives.all_in_a_row`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding

from examples.collectives.all_to_all import ROWS, on_rows
from examples.collectives.blocks import blocks_of
from examples.collectives.ppermute import numbers
from examples.tools.traffic import sends

RING = {  # bytes that one of n devices sends on a ring, for a shard of b bytes
    "psum": lambda b, n: 2 * b * (n - 1) / n,
    "pmean": lambda b, n: 2 * b * (n - 1) / n,
    "pmax": lambda b, n: 2 * b * (n - 1) / n,
    "all_gather": lambda b, n: b * (n - 1),
    "psum_scatter": lambda b, n: b * (n - 1) / n,
    "all_to_all": lambda b, n: b * (n - 1) / n,
    "ppermute": lambda b, n: b,
}


def references(blocks):
    """Return what each device holds after each collective, from what each held."""
    n, total = len(blocks), sum(blocks)
    parts = [np.split(block, n) for block in blocks]
    return {
        "psum": [total] * n,
        "pmean": [total / n] * n,
        "pmax": [np.maximum.reduce(blocks)] * n,
        "all_gather": [np.concatenate(blocks)] * n,
        "psum_scatter": np.split(total, n),
        "all_to_all": [np.concatenate(got) for got in zip(*parts, strict=True)],
        "ppermute": [blocks[d - 1] for d in range(n)],
    }


def bodies(n):
    """Return each collective as a function of the shard on one of n devices."""
    ring = [(d, (d + 1) % n) for d in range(n)]
    return {
        "psum": lambda block: lax.psum(block, "rows"),
        "pmean": lambda block: lax.pmean(block, "rows"),
        "pmax": lambda block: lax.pmax(block, "rows"),
        "all_gather": lambda block: lax.all_gather(block, "rows", tiled=True),
        "psum_scatter": lambda block: lax.psum_scatter(block, "rows", tiled=True),
        "all_to_all": lambda block: lax.all_to_all(block, "rows", 0, 0, tiled=True),
        "ppermute": lambda block: lax.ppermute(block, "rows", ring),
    }


def measured(name, mesh, k):
    """Return the bytes that one device sends, for k float32 on each device."""
    x = jax.ShapeDtypeStruct((mesh.size * k,), jnp.float32)
    x = x.update(sharding=NamedSharding(mesh, ROWS))
    [sent] = sends(on_rows(mesh, bodies(mesh.size)[name]).lower(x))
    return sent.moved


def lower(mesh):
    """Lower all seven in one program for a mesh of any size, with 4 MiB on each device.

    What `all_gather` takes in is a part of that, so that about 4 MiB come out.
    """
    n = mesh.size
    part = 128 * max(1, 2**20 // (128 * n))
    x, small = (
        jax.ShapeDtypeStruct((n * k,), jnp.float32, sharding=NamedSharding(mesh, ROWS))
        for k in (n * part, part)
    )

    def all_seven(block, small):
        takes = {"all_gather": small}
        return {name: bodies(n)[name](takes.get(name, block)) for name in RING}

    return on_rows(mesh, all_seven).lower(x, small)


def main():
    """Run all seven on four devices; compare with the lists, and with the bytes.

    >>> main()
    psum True True
    pmean True True
    pmax True True
    all_gather True True
    psum_scatter True True
    all_to_all True True
    ppermute True True
    """
    mesh = jax.make_mesh((4,), ("rows",))
    x = jax.device_put(numbers(4, each=4), NamedSharding(mesh, ROWS))
    expected = references(blocks_of(x))
    for name, sent in RING.items():
        found = on_rows(mesh, bodies(4)[name])(x)
        same = np.array_equal(blocks_of(found), expected[name])
        print(name, same, sent(4 * 32, 4) == measured(name, mesh, k=32))


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
