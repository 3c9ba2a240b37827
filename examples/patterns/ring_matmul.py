"""Overlap a matrix product with its collective: send a block while it is multiplied.

Why it is hard: a product that begins with a gather waits for all of it, and one that
ends with a sum leaves the network idle until the last number is there.
What finishes it: the blocks go around a ring, one neighbor at a time, and each is
multiplied when it comes by. No send waits for the product of the same step, so a
compiler may run both at once; no device ever holds the whole matrix.

Source: Wang et al., Overlap communication with dependent computation via decomposition
in large deep learning models, ASPLOS 2023.

Run it: `python -m examples.patterns.ring_matmul`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from examples.tools.traffic import sends
from examples.vmap.what_it_does import equations

ROWS, COLUMNS = P("rows", None), P(None, "rows")
GATHER = ROWS, COLUMNS, COLUMNS  # how a, b and a @ b are split, where a is gathered
SCATTER = COLUMNS, ROWS, ROWS  # and where partial sums are handed out


def reference(a, b):
    """Return `a @ b`, by NumPy."""
    return np.asarray(a) @ np.asarray(b)


def hop(x, to):
    """Send x to the next device of the ring: -1 is the left neighbor, 1 the right."""
    n = lax.axis_size("rows")
    return lax.ppermute(x, "rows", [(k, (k + to) % n) for k in range(n)])


def gathered(a, b):
    """Gather the rows of a, and multiply them by the columns of b that are here."""
    return lax.all_gather(a, "rows", tiled=True) @ b


def ring(a, b):
    """Multiply each block of a as it comes by, on its way around to the left."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    product = jnp.zeros((n * len(a), b.shape[1]), a.dtype)
    for step in range(n):
        if step > 0:
            a = hop(a, -1)
        product = put(product, a @ b, me + step)  # the block of the device me + step
    return product


def put(product, block, k):
    """Write `block` over the rows that belong to device k, counted around the ring."""
    k = k % lax.axis_size("rows")
    return lax.dynamic_update_slice_in_dim(product, block, k * len(block), 0)


def both_ways(a, b):
    """Send a to the left and to the right: half as many steps, both directions used."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    product = jnp.zeros((n * len(a), b.shape[1]), a.dtype)
    product = put(product, a @ b, me)
    left = right = a
    for step in range(1, n // 2 + 1):
        left = hop(left, -1)
        product = put(product, left @ b, me + step)
        if 2 * step < n:  # or it is the same block from both sides
            right = hop(right, 1)
            product = put(product, right @ b, me - step)
    return product


def rolled(a, b):
    """Go around as `ring` does, in a loop that is compiled once, however many steps."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")

    def turn(step, carry):
        a, product = carry
        return hop(a, -1), put(product, a @ b, me + step)

    product = jnp.zeros((n * len(a), b.shape[1]), a.dtype)
    product = put(product, a @ b, me)
    a, product = lax.fori_loop(1, n - 1, turn, (hop(a, -1), product))
    return put(product, a @ b, me - 1)  # the last block goes no further


def scattered(a, b):
    """Multiply the columns of a and the rows of b that are here, add, and hand out."""
    return lax.psum_scatter(a @ b, "rows", tiled=True)


def scatter_ring(a, b):
    """Send a sum around to the left; each device adds its part when it comes by."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    total = None
    for step in range(1, n + 1):
        total = add(total, -1, part(a, b, me + step))
    return total


def part(a, b, k):
    """Return this device's part of the rows of the product that belong to device k."""
    n = lax.axis_size("rows")
    size = len(a) // n
    return lax.dynamic_slice_in_dim(a, k % n * size, size, 0) @ b


def add(total, to, product):
    """Send `total` on, and add this device's product to the one that arrives."""
    if total is None:
        return product
    # One operation for product and sum would have to wait for what arrives.
    arrived, product = lax.optimization_barrier((hop(total, to), product))
    return arrived + product


def scatter_both_ways(a, b):
    """Send two sums toward each device, one to the left and one to the right."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")
    left = right = None
    for step in range(n // 2, 0, -1):
        left = add(left, -1, part(a, b, me - step))
        if 2 * step < n:  # or both sums would count the same device
            right = add(right, 1, part(a, b, me + step))
    return add(right, 1, add(left, -1, part(a, b, me)))


def scatter_rolled(a, b):
    """Go around as `scatter_ring` does, in a loop that is compiled once."""
    n, me = lax.axis_size("rows"), lax.axis_index("rows")

    def turn(step, total):
        return add(total, -1, part(a, b, me + step))

    return lax.fori_loop(2, n + 1, turn, part(a, b, me + 1))


def on_mesh(body, mesh, split=GATHER):
    """Return a jitted function of a and b, (m, k) and (k, p), split over `mesh`."""
    *blocks, product = split
    return jax.jit(
        jax.shard_map(body, mesh=mesh, in_specs=tuple(blocks), out_specs=product)
    )


def matrices(mesh, split=GATHER, size=16):
    """Return a and b on the mesh, split: whole numbers, float32 (size, size) each."""
    numbers = np.arange(size * size, dtype=np.float32).reshape(size, size)
    splits = tuple(NamedSharding(mesh, spec) for spec in split[:2])
    return jax.device_put((numbers % 5 - 2, numbers % 7 - 3), splits)


def waits(fn, *args):
    """Return for how many products each send waits, and for how many sends a product.

    Read from the jaxpr of the body that `fn`, a mapped function, runs on each device.
    """
    [body] = [
        equation.params["jaxpr"]
        for equation in equations(jax.make_jaxpr(fn)(*args))
        if equation.primitive.name == "shard_map"
    ]
    behind, found = {}, {"ppermute": [], "dot_general": []}
    for equation in body.eqns:
        known = [behind[id(value)] for value in equation.invars if id(value) in behind]
        needed = frozenset().union(*known)
        name = equation.primitive.name
        if name in found:
            [other] = found.keys() - {name}
            found[name].append(sum(kind == other for kind, _ in needed))
            needed |= {(name, len(found[name]))}
        behind |= {id(value): needed for value in equation.outvars}
    return {"sends wait": found["ppermute"], "products wait": found["dot_general"]}


def travel(mesh, to=-1):
    """Return the number of the block that each device holds, (n, 1), after each hop."""
    numbers = np.arange(1, mesh.size + 1, dtype=np.float32)[:, None]
    specs = {"in_specs": ROWS, "out_specs": ROWS}
    step = jax.jit(jax.shard_map(partial(hop, to=to), mesh=mesh, **specs))
    held = [jax.device_put(numbers, NamedSharding(mesh, ROWS))]
    for _ in range(mesh.size - 1):
        held.append(step(held[-1]))
    return held


def gradients(multiply):
    """Return a jitted function: slopes of a and b, given those of the product."""
    return jax.jit(lambda a, b, slopes: jax.vjp(multiply, a, b)[1](slopes))


def lower(mesh, body=ring, split=GATHER):
    """Lower `body` in rings of eight devices, each with rows of a of its own.

    A device holds (512, 4096) of a, (4096, 8192) of b and (4096, 8192) of the product,
    in bfloat16; with SCATTER (4096, 8192), (8192, 4096) and (512, 4096).
    """
    kinds = (AxisType.Explicit,) * 2
    grid = Mesh(mesh.devices.reshape(-1, 8), ("batch", "rows"), axis_types=kinds)
    rows, wide = 512 * mesh.size, 8 * 8192
    if split == GATHER:
        a, b = (rows, 4096), (4096, wide)
    else:
        a, b = (rows, wide), (wide, 4096)
    of_a, of_b, of_product = split
    split = in_groups(of_a), of_b, in_groups(of_product)
    inputs = [
        jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=NamedSharding(grid, spec))
        for shape, spec in zip((a, b), split[:2], strict=True)
    ]
    return on_mesh(body, grid, split).lower(*inputs)


def in_groups(spec):
    """Return `spec` with the rows divided among groups of devices first."""
    first, second = spec
    return P(("batch", first) if first else "batch", second)


def lower_both_ways(mesh):
    """Lower `both_ways` for the matrices of `lower`."""
    return lower(mesh, both_ways)


def lower_rolled(mesh):
    """Lower `rolled` for the matrices of `lower`."""
    return lower(mesh, rolled)


def lower_gathered(mesh):
    """Lower `gathered`, which is no ring, for the matrices of `lower`."""
    return lower(mesh, gathered)


def lower_scatter_ring(mesh):
    """Lower `scatter_ring`."""
    return lower(mesh, scatter_ring, SCATTER)


def lower_scatter_rolled(mesh):
    """Lower `scatter_rolled`."""
    return lower(mesh, scatter_rolled, SCATTER)


def main():
    """Multiply in every way, compare with NumPy, and print what is sent and waited for.

    >>> main()
    gathered           equal; sends 896 bytes at once
    ring               equal; sends 7 x 128 bytes, a product waits for 7 at most
    both_ways          equal; sends 7 x 128 bytes, a product waits for 4 at most
    scattered          equal; sends 896 bytes at once
    scatter_ring       equal; sends 7 x 128 bytes, a product waits for 0 at most
    scatter_both_ways  equal; sends 7 x 128 bytes, a product waits for 0 at most
    in a loop, as many bytes and the same numbers: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    ways = {
        GATHER: (gathered, ring, both_ways),
        SCATTER: (scattered, scatter_ring, scatter_both_ways),
    }
    for split, bodies in ways.items():
        a, b = matrices(mesh, split)
        for body in bodies:
            multiply = on_mesh(body, mesh, split)
            assert np.array_equal(multiply(a, b), reference(a, b))
            found = sends(multiply.lower(a, b))
            line = f"{body.__name__:18} equal; sends"
            if len(found) == 1:
                print(f"{line} {found[0].moved} bytes at once")
            else:
                most = max(waits(multiply, a, b)["products wait"])
                each = f"{len(found)} x {found[0].moved} bytes"
                print(f"{line} {each}, a product waits for {most} at most")
    same = True
    for body, split in [(rolled, GATHER), (scatter_rolled, SCATTER)]:
        a, b = matrices(mesh, split)
        multiply = on_mesh(body, mesh, split)
        same &= np.array_equal(multiply(a, b), reference(a, b))
        same &= sum(s.times * s.moved for s in sends(multiply.lower(a, b))) == 896
    assert same
    print(f"in a loop, as many bytes and the same numbers: {same}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
