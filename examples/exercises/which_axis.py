"""Let every network of an ensemble see its own images, whose count is their last axis.

Given an ensemble of m networks, a dict of w1, (m, 64, h), and w2, (m, h, 10), and
images, (m, 8, 8, n), n of them for each network, return all logits, (m, n, 10).
"""

import jax
import jax.numpy as jnp
import numpy as np


def predict(params, image):
    """Return the logits of one network, (10,), for one image, (8, 8)."""
    image = image - image.mean()
    image = image / jnp.sqrt((image**2).mean())
    hidden = jax.nn.relu(image.reshape(64) @ params["w1"])
    return hidden @ params["w2"]


def solution(ensemble, images):
    """Map over the images of one network first, and then over the networks."""
    of_one_network = jax.vmap(predict, in_axes=(None, 2))
    return jax.vmap(of_one_network, in_axes=(0, 0))(ensemble, images)


def check(predict_own):
    """Raise AssertionError, with what to look at, unless `predict_own` is right.

    predict_own(ensemble, images): w1 (m, 64, h), w2 (m, h, 10), and (m, 8, 8, n), to
    (m, n, 10).
    """
    rng = np.random.default_rng(0)
    for m, n in [(5, 100), (8, 8)]:  # with 8 of each, any axis fits
        ensemble = {
            "w1": np.float32(rng.normal(size=(m, 64, 16)) / 8),
            "w2": np.float32(rng.normal(size=(m, 16, 10)) / 4),
        }
        images = rng.normal(size=(m, 8, 8, n)).astype(np.float32)
        with jax.default_matmul_precision("highest"):
            _check_one(predict_own, ensemble, images)
    print("The check passes.")


def _check_one(predict_own, ensemble, images):
    m, _, _, n = images.shape
    asked = f"{m} networks and {n} images each need logits of shape ({m}, {n}, 10)"
    assert callable(predict_own), f"{asked}, and {predict_own!r} is no function"
    try:
        found = predict_own(ensemble, images)
    except (TypeError, ValueError) as error:
        raise AssertionError(
            f"{asked}, and this raised {type(error).__name__}: does predict get one "
            "image? The outer vmap takes an axis away before the inner one counts"
        ) from error
    assert np.shape(found) == (m, n, 10), f"{asked}; yours have {np.shape(found)}"
    found = np.asarray(found)
    for k in (0, 1, m - 1):
        own = {name: leaf[k] for name, leaf in ensemble.items()}
        for i in (0, 1, n - 1):
            expected = predict(own, images[k, :, :, i])
            assert np.allclose(found[k, i], expected, atol=1e-3), (
                f"with {m} networks and {n} images each, the shape is right, and image "
                f"{i} of network {k} has other logits than in a loop over "
                "predict(network k, images[k, :, :, i])"
            )


def mistake_counts_from_outside(ensemble, images):
    """You told the inner `vmap` axis 3, but where it looks, the outer one took one."""
    of_one_network = jax.vmap(predict, in_axes=(None, 3))
    return jax.vmap(of_one_network)(ensemble, images)


def mistake_maps_the_images_outside(ensemble, images):
    """You mapped the images outside, and the outer axis comes first in the result."""
    of_one_image_each = jax.vmap(predict)
    return jax.vmap(of_one_image_each, in_axes=(None, 3))(ensemble, images)


def mistake_shares_the_images(ensemble, images):
    """You gave every network the images of all, so there is an axis too many."""
    of_own = jax.vmap(predict, in_axes=(None, 2))
    of_all = jax.vmap(of_own, in_axes=(None, 0))
    return jax.vmap(of_all, in_axes=(0, None))(ensemble, images)


def mistake_reshapes(ensemble, images):
    """You reshaped the images to bring the count forward, which mixes their pixels."""
    m, _, _, n = images.shape
    of_one_network = jax.vmap(predict, in_axes=(None, 0))
    return jax.vmap(of_one_network)(ensemble, images.reshape(m, n, 8, 8))
