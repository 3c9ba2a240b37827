"""Batch by algebra: squared distances of all points to all centers, as a product.

Given points (m, n) and centers (k, n), return the squared distance of each point to
each center, (m, k).
No array may be larger than the largest of points, centers and answer: the differences
themselves are m * k * n numbers, and no rewriting of `subtract` makes them fewer.
"""

import jax
import jax.numpy as jnp
import numpy as np

from examples.vmap.what_it_does import equations


def distance(point, center):
    """Return the squared distance of two points: (n,) and (n,) give ()."""
    return ((point - center) ** 2).sum()


def solution(points, centers):
    """Return all squared distances, by |p - c|² = |p|² - 2 p·c + |c|²."""
    of_points, of_centers = (points**2).sum(axis=1), (centers**2).sum(axis=1)
    return of_points[:, None] - 2 * points @ centers.T + of_centers


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(points, centers): float32 (m, n) and (k, n) to (m, k).
    """
    draw = np.random.default_rng(0)
    points = draw.integers(-3, 4, (24, 10)).astype(np.float32)
    centers = draw.integers(-3, 4, (16, 10)).astype(np.float32)
    found = make(points, centers)
    assert np.shape(found) == (24, 16), (
        "24 points and 16 centers have 24 times 16 distances, shape (24, 16); "
        f"yours has shape {np.shape(found)}"
    )
    expected = [[distance(point, center) for center in centers] for point in points]
    assert np.array_equal(found, expected), (
        "the numbers differ from the loop's: is every term of the square there?"
    )
    program = list(equations(jax.make_jaxpr(make)(points, centers)))
    loops = {e.primitive.name for e in program} & {"scan", "while"}
    assert not loops, f"the pairs are taken in turn, in a {', '.join(loops)}"
    sizes = [out.aval.size for equation in program for out in equation.outvars]
    most = max(24 * 16, points.size, centers.size)
    assert max(sizes) <= most, (
        f"one array of your program has {max(sizes)} numbers, and {most} are enough: "
        "which product of two matrices has all the p·c?"
    )
    print("The check passes.")


def mistake_maps_twice(points, centers):
    """You used two `vmap`s, which make an array of the differences of all pairs."""
    of_one = jax.vmap(distance, in_axes=(None, 0))
    return jax.vmap(of_one, in_axes=(0, None))(points, centers)


def mistake_broadcasts(points, centers):
    """You broadcast the subtraction, which makes an array of all differences."""
    return ((points[:, None] - centers) ** 2).sum(axis=-1)


def mistake_forgets_the_centers(points, centers):
    """You left out |c|², the squared length of each center."""
    return (points**2).sum(axis=1)[:, None] - 2 * points @ centers.T


def mistake_takes_turns(points, centers):
    """You looped over the points with `lax.map`, which takes them one by one."""
    of_one = jax.vmap(distance, in_axes=(None, 0))
    return jax.lax.map(lambda point: of_one(point, jnp.asarray(centers)), points)
