"""Bring batches of any length to four lengths, so that four programs are compiled.

Given a jitted `predict_all(params, images)`, (n, 8, 8) to (n, 10), the parameters, and
images, (n, 8, 8), with n from 1 to 1,024, fill the batch up with images of zeros to the
next multiple of 256, call `predict_all`, and return the logits of the n images.
"""

import jax
import jax.numpy as jnp
import numpy as np

PORTION = 256


def solution(predict_all, params, images):
    """Fill up in NumPy, which compiles nothing, and drop the logits of the filling."""
    count = len(images)
    filling = -count % 256
    filled = np.pad(images, ((0, filling), (0, 0), (0, 0)))
    return np.asarray(predict_all(params, filled))[:count]


def check(predict_any):
    """Raise AssertionError, with what to look at, unless `predict_any` is right.

    predict_any(predict_all, params, images): a jitted function, whatever it takes for
    parameters, and (n, 8, 8), to (n, 10).
    """
    compiled = []

    @jax.jit
    def predict_all(params, images):
        compiled.append(len(images))
        return images.reshape(-1, 64) @ params["w"]

    rng = np.random.default_rng(0)
    params = {"w": rng.integers(-8, 8, size=(64, 10)).astype(np.float32)}
    every = rng.integers(1, 8, size=(1024, 8, 8)).astype(np.float32)
    for count in (5, 200, 256, 257, 600, 768, 1000, 1024):
        images = every[:count]
        asked = f"{count} images need logits of shape ({count}, 10)"
        assert callable(predict_any), f"{asked}, and {predict_any!r} is no function"
        known = len(compiled)
        found = predict_any(predict_all, params, images)
        assert np.shape(found) == (count, 10), f"{asked}; yours have {np.shape(found)}"
        right = images.reshape(-1, 64) @ params["w"]
        assert np.array_equal(found, right), (
            f"the logits of {count} images have the right shape and are not those of "
            "these images: where in the batch are the zeros?"
        )
        assert compiled, "you never called the predict_all that was given to you"
        for length in compiled[known:]:
            assert length % PORTION == 0, (
                f"for {count} images, a program was compiled for a batch of {length}, "
                "which is no multiple of 256"
            )
            enough = count + -count % PORTION
            assert length <= enough, (
                f"for {count} images, a program was compiled for a batch of {length}, "
                f"and {enough} are enough"
            )
    assert len(compiled) <= 4, f"{len(compiled)} programs were compiled, and 4 do"
    print("The check passes.")


def mistake_does_not_fill(predict_all, params, images):
    """You passed the batch on as it was, so each new length is compiled."""
    return predict_all(params, images)


def mistake_keeps_the_filling(predict_all, params, images):
    """You returned the logits of the filling, too, as if there were more images."""
    filling = -len(images) % PORTION
    return predict_all(params, jnp.pad(images, ((0, filling), (0, 0), (0, 0))))


def mistake_fills_in_front(predict_all, params, images):
    """You put the zeros in front, so the first logits are those of the filling."""
    filling = -len(images) % PORTION
    filled = jnp.pad(images, ((filling, 0), (0, 0), (0, 0)))
    return predict_all(params, filled)[: len(images)]


def mistake_fills_a_full_batch(predict_all, params, images):
    """You added a portion even where the batch was a multiple of 256 already."""
    filled = np.zeros(((len(images) // PORTION + 1) * PORTION, 8, 8), np.float32)
    filled[: len(images)] = images
    return predict_all(params, filled)[: len(images)]


def mistake_always_fills_to_the_longest(predict_all, params, images):
    """You filled each batch up to 1,024, and 5 images take as long as 1,024."""
    filled = np.zeros((1024, 8, 8), np.float32)
    filled[: len(images)] = images
    return predict_all(params, filled)[: len(images)]
