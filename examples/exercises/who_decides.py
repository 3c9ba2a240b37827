"""Find for each image the other image that is most like it.

Given pixels, (n, 64), sharded along its rows, return for each image i the number j of
the other image for which the sum over pixels[i] * pixels[j] is largest: integers (n,),
sharded as the images are.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P


def solution(pixels):
    """Say that each device keeps the rows of its own images; the rest follows."""
    products = jnp.matmul(pixels, pixels.T, out_sharding=P("data"))
    itself = jnp.eye(len(pixels), dtype=bool)
    return jnp.where(itself, -jnp.inf, products).argmax(axis=1)


def check(most_alike):
    """Raise AssertionError, with what to look at, unless `most_alike` is right.

    most_alike(pixels): float32[n@data,64], to integers [n@data].
    """
    devices = max(n for n in (1, 2, 4, 8) if n <= jax.device_count())
    mesh = jax.make_mesh((devices,), ("data",), devices=jax.devices()[:devices])
    for n in (16, 40):
        rng = np.random.default_rng(n)
        images = rng.integers(0, 8, size=(n, 64)).astype(np.float32)
        images[-1] = -1  # its product with any other is negative
        with jax.set_mesh(mesh):
            found = most_alike(jax.device_put(images, P("data")))
        asked = f"{n} images need {n} neighbours"
        assert isinstance(found, jax.Array | np.ndarray) and found.shape == (n,), (
            f"{asked}, an array of shape ({n},); yours gives {_named(found)}"
        )
        assert np.issubdtype(found.dtype, np.integer), (
            f"{asked}, the numbers of images; yours are {found.dtype}"
        )
        chosen = np.asarray(found)
        itself = chosen == np.arange(n)
        assert not itself.any(), (
            f"of {n} images, yours has image {itself.argmax()} as its own neighbour: "
            "what stands on the diagonal, and is it less than all other products?"
        )
        assert chosen.min() >= 0 and chosen.max() < n, (
            f"{asked}, numbers from 0 to {n - 1}; yours go from {chosen.min()} to "
            f"{chosen.max()}"
        )
        products = images @ images.T
        np.fill_diagonal(products, -np.inf)
        largest = products[np.arange(n), chosen] == products.max(axis=1)
        assert largest.all(), (
            f"of {n} images, image {int(largest.argmin())} has a neighbour with a "
            "larger product than yours; is it a sum over the 64 pixels?"
        )
        assert isinstance(found, jax.Array), (
            "the neighbours should stay on the devices; yours are in host memory"
        )
        held = [shard.data.shape for shard in found.addressable_shards]
        assert held == [(n // devices,)] * devices, (
            f"each of {devices} devices should hold the neighbours of its own "
            f"{n // devices} images; on yours, {len(held)} hold {sorted({*held})}: "
            "what did you tell JAX about the rows of the product?"
        )
    print("The check passes.")


def _named(found):
    """Say what `found` is: of an array, its shape."""
    if isinstance(found, jax.Array | np.ndarray):
        return f"an array of shape {found.shape}"
    return f"something of type {type(found).__name__}"


def mistake_gives_everybody_all(pixels):
    """You asked for all products on every device, so each computes all of them."""
    products = jnp.matmul(pixels, pixels.T, out_sharding=P())
    itself = jnp.eye(len(pixels), dtype=bool)
    return jnp.where(itself, -jnp.inf, products).argmax(axis=1)


def mistake_leaves_the_diagonal(pixels):
    """You left the product of an image with itself in, and it is mostly the largest."""
    return jnp.matmul(pixels, pixels.T, out_sharding=P("data")).argmax(axis=1)


def mistake_puts_zeros(pixels):
    """You put 0 on the diagonal, the largest where all other products are negative."""
    products = jnp.matmul(pixels, pixels.T, out_sharding=P("data"))
    itself = jnp.eye(len(pixels), dtype=bool)
    return jnp.where(itself, 0, products).argmax(axis=1)


def mistake_compares_pixels(pixels):
    """You multiplied `pixels.T @ pixels`, which compares pixels and not images."""
    products = jnp.matmul(pixels.T, pixels, out_sharding=P("data"))
    itself = jnp.eye(64, dtype=bool)
    return jnp.where(itself, -jnp.inf, products).argmax(axis=1)
