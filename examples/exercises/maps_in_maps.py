"""Find the nearest image of all devices, for many queries.

Write `nearest(queries, images)`, the body of a `shard_map` with
`in_specs=(P(), P("data"))` and `out_specs=P()`.  All devices have the same queries,
(q, 8, 8), and each has its own images, (m, 8, 8).  Return for each query the smallest
`distance` to any image on any device, (q,).
"""

import jax
import numpy as np
from jax import P, lax


def distance(image, other):
    """Return the sum of the squared differences, (), of two images, each (8, 8)."""
    return ((image - other) ** 2).sum()


def solution(queries, images):
    """Compare each query with my images; of all devices, keep the smallest distance."""
    one_to_all = jax.vmap(distance, in_axes=(None, 0))
    table = jax.vmap(one_to_all, in_axes=(0, None))(queries, images)
    return lax.pmin(table.min(axis=1), "data")


def check(nearest):
    """Raise AssertionError, with what to look at, unless `nearest` is right.

    nearest(queries, images): on each device of a mesh with the axis "data", float32
    (q, 8, 8) and (m, 8, 8) to (q,).
    """
    devices = jax.device_count()
    mesh = jax.make_mesh((devices,), ("data",))
    rng = np.random.default_rng(0)
    for q, m in [(5, 3), (8, 8)]:  # with 8 of each, any axis fits
        images = rng.integers(10, size=(devices, m, 8, 8)).astype(np.float32)
        homes = np.arange(q) * 5 % devices  # the device with the nearest image
        queries = images[homes, np.arange(q) % m] + 1
        images = images.reshape(-1, 8, 8)
        table = ((queries[:, None] - images) ** 2).sum(axis=(2, 3))
        found = _run(nearest, mesh, queries, images)
        for k in range(q):
            assert found[k] == table[k].min(), (
                f"with {q} queries, query {k} is at {table[k].min():.0f} from the "
                f"nearest of all images, which device {homes[k]} has; yours is at "
                f"{found[k]:.0f}: which distances is the smallest taken of?"
            )
    print("The check passes.")


def _run(nearest, mesh, queries, images):
    """Return what `nearest` finds as the body of a `shard_map`, as a NumPy array."""
    q = len(queries)
    asked = f"{q} queries need {q} distances, an array of shape ({q},)"
    assert callable(nearest), f"{asked}, and {nearest!r} is no function"

    def body(queries, images):
        mine = nearest(queries, images)
        assert hasattr(mine, "shape"), f"{asked}; yours returns {mine!r}"
        assert mine.shape == (q,), f"{asked}; yours has shape {mine.shape}"
        return mine

    with jax.set_mesh(mesh):
        places = jax.device_put(queries, P()), jax.device_put(images, P("data"))
        specs = {"in_specs": (P(), P("data")), "out_specs": P()}
        for keeps in (True, False):  # the books of what varies: not for named vmaps
            mapped = jax.shard_map(body, check_vma=keeps, **specs)
            try:
                return np.asarray(jax.jit(mapped)(*places))
            except (AssertionError, NameError, TypeError, ValueError) as error:
                if isinstance(error, AssertionError) and str(error):
                    raise
                said = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": ")
                if "out_specs" in str(error):
                    raise AssertionError(
                        "out_specs=P() says that all devices return the same, and "
                        "yours may return different distances: which collective "
                        "leaves the smallest of all on each of them?"
                    ) from error
    raise AssertionError(
        f"{asked}, and yours raised {said}: does each of the two vmaps slice one "
        "argument, and share the other?"
    )


def mistake_keeps_to_its_own_images(queries, images):
    """You left the other devices out: each has the nearest of its own images."""
    one_to_all = jax.vmap(distance, in_axes=(None, 0))
    return jax.vmap(one_to_all, in_axes=(0, None))(queries, images).min(axis=1)


def mistake_walks_side_by_side(queries, images):
    """You sliced both arguments in both maps, and pairs come from `None`."""
    both = jax.vmap(jax.vmap(distance))(queries, images)
    return lax.pmin(both.min(axis=1), "data")


def mistake_asks_each_image(queries, images):
    """You took the smallest of the outer axis, which leaves one for each image."""
    one_to_all = jax.vmap(distance, in_axes=(None, 0))
    table = jax.vmap(one_to_all, in_axes=(0, None))(queries, images)
    return lax.pmin(table.min(axis=0), "data")


def mistake_adds_up(queries, images):
    """You took `psum`, which adds up the smallest distances of all devices."""
    one_to_all = jax.vmap(distance, in_axes=(None, 0))
    table = jax.vmap(one_to_all, in_axes=(0, None))(queries, images)
    return lax.psum(table.min(axis=1), "data")
