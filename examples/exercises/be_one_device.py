"""Find the brightest pixel of all images, and count how often its value occurs.

Each device holds some of the images, (n, 8, 8).  Write the body of a `shard_map` over
"data" that returns two numbers, the same on every device: the value of the brightest
pixel of all images, and how many pixels of all images have exactly this value.
"""

import jax
import numpy as np
from jax import P, lax


def solution(images):
    """Ask for the largest value of all, count mine that have it, and add up."""
    brightest = lax.pmax(images.max(), "data")
    mine = (images == brightest).sum()
    return brightest, lax.psum(mine, "data")


def check(brightest):
    """Raise AssertionError, with what to look at, unless the body is right.

    brightest(images): float32 (n, 8, 8), the images of one device, to two numbers ().
    """
    asked = "brightest returns two numbers"

    def body(images):
        answer = brightest(images)
        assert isinstance(answer, tuple | list) and len(answer) == 2, (
            f"{asked}, a value and a count; yours returns {_named(answer)}"
        )
        for name, number in zip(("value", "count"), answer, strict=True):
            assert isinstance(number, jax.Array) and number.shape == (), (
                f"{asked}, arrays of shape (); your {name} is {_named(number)}"
            )
            assert not jax.typeof(number).manual_axis_type.varying, (
                f"the {name} should be the same on every device, and by its type, "
                f"{jax.typeof(number)}, it is not: who was not asked?"
            )
        return tuple(answer)

    counts = [n for n in (1, 2, 4, 8) if n <= jax.device_count()]
    for devices, each in [(counts[-1], 3), (counts[-1], 1), (counts[0], 2)]:
        images = _images(devices, each)
        mesh = jax.make_mesh((devices,), ("data",), devices=jax.devices()[:devices])
        mapped = jax.shard_map(body, in_specs=P("data"), out_specs=(P(), P()))
        with jax.set_mesh(mesh):
            found = jax.jit(mapped)(jax.device_put(images, P("data")))
        value, count = map(float, found)
        right, often = images.max(), (images == images.max()).sum()
        assert value == right, (
            f"the brightest pixel of all {len(images)} images has the value {right:g}; "
            f"yours is {value:g}: which collective gives the largest?"
        )
        assert count == often, (
            f"{often} pixels of {len(images)} images have the value {right:g}; you "
            f"count {count:g}: with what do you compare a pixel, and who adds up?"
        )
    print("The check passes.")


def _named(found):
    """Say what `found` is: of an array, its shape."""
    if isinstance(found, tuple | list):
        return f"{len(found)} of them"
    if isinstance(found, jax.Array | np.ndarray):
        return f"an array of shape {found.shape}"
    return f"something of type {type(found).__name__}"


def _images(devices, each):
    """Return dark images: the brightest pixels are on two devices, 1 and 3 of them."""
    rng = np.random.default_rng(devices)
    images = rng.integers(-90, -50, size=(devices * each, 8, 8)).astype(np.float32)
    images[:, 2, 2] = -9  # as bright as most devices have it
    images[0, 0, :3] = images[-1, 7, 7] = -5
    return images


def mistake_asks_nobody(images):
    """You took `images.max()`, the brightest of this device, for that of all."""
    brightest = images.max()
    return brightest, lax.psum((images == brightest).sum(), "data")


def mistake_counts_its_own_brightest(images):
    """You counted the pixels that are the brightest of their own device."""
    mine = images.max()
    return lax.pmax(mine, "data"), lax.psum((images == mine).sum(), "data")


def mistake_takes_the_largest_count(images):
    """You took the largest count of a device, where the counts have to be added."""
    brightest = lax.pmax(images.max(), "data")
    return brightest, lax.pmax((images == brightest).sum(), "data")


def mistake_compares_place_by_place(images):
    """You called `pmax` on the images, so a pixel met only those at its own place."""
    brightest = lax.pmax(images, "data")
    return brightest.max(), lax.psum((images == brightest).sum(), "data")
