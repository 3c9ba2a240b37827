"""Take the gradient of a mean loss in four portions of the batch.

Given a function mean_loss(params, images, labels), params, a dict of w1, (64, h), and
w2, (h, 10), images, (n, 8, 8), and labels, (n,), where n is a multiple of 4, split the
batch into four equal portions, take `jax.grad` of the mean loss of each, and return the
gradient of the mean loss of the whole batch: a dict of the form of params.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

COUNT, HIDDEN = 24, 17  # lengths that nothing else has


def image_loss(params, image, label):
    """Return the loss of one image, (8, 8)."""
    logits = jax.nn.relu(image.reshape(64) @ params["w1"]) @ params["w2"]
    return -jax.nn.log_softmax(logits)[label]


def batch_loss(params, images, labels):
    """Return the mean of the losses of a batch, (n, 8, 8) and (n,)."""
    return jax.vmap(image_loss, in_axes=(None, 0, 0))(params, images, labels).mean()


def solution(mean_loss, params, images, labels):
    """Add up the gradients of four portions, and divide by four."""
    size = len(images) // 4
    total = jax.tree.map(jnp.zeros_like, params)
    for start in range(0, 4 * size, size):
        portion = slice(start, start + size)
        grads = jax.grad(mean_loss)(params, images[portion], labels[portion])
        total = jax.tree.map(jnp.add, total, grads)
    return jax.tree.map(lambda leaf: leaf / 4, total)


def check(grad_in_portions):
    """Raise AssertionError, with what to look at, unless `grad_in_portions` is right.

    grad_in_portions(mean_loss, params, images, labels): as above.
    """
    asked = "a gradient has the form of params"
    assert callable(grad_in_portions), f"{asked}, and {grad_in_portions!r} is none"
    rng = np.random.default_rng(0)
    params = {
        "w1": np.float32(rng.normal(size=(64, HIDDEN)) / 8),
        "w2": np.float32(rng.normal(size=(HIDDEN, 10)) / 4),
    }
    batch = rng.normal(size=(COUNT, 8, 8)).astype(np.float32), np.arange(COUNT) % 10
    with jax.default_matmul_precision("highest"):
        found = grad_in_portions(batch_loss, params, *batch)
        right = jax.grad(batch_loss)(params, *batch)
    shapes, yours = (jax.tree.map(np.shape, tree) for tree in (params, found))
    assert yours == shapes, f"{asked}, with the shapes {shapes}; yours has {yours}"
    for name, leaf in right.items():
        for factor in (4, 1 / 4):
            assert not np.allclose(found[name], factor * leaf, atol=1e-4), (
                f"your gradient is {factor:g} times that of the mean loss: what do the "
                "gradients of four means have to do with the gradient of the mean?"
            )
        assert np.allclose(found[name], leaf, atol=1e-4), (
            f"the gradient for {name} is not that of the mean loss of all images: "
            "does every image count once, and with its own label?"
        )
    assert f"[{COUNT},{HIDDEN}]" not in _program(
        partial(grad_in_portions, batch_loss), params, *batch
    ), (
        f"the program multiplies all {COUNT} images at once, as the gradient without "
        "portions does"
    )
    print("The check passes.")


def _program(function, *args):
    """Return the operations of `function` as a text; none where NumPy is in it."""
    try:
        return str(jax.make_jaxpr(function)(*args))
    except jax.errors.TracerArrayConversionError:
        return ""


def mistake_adds_up(mean_loss, params, images, labels):
    """You added the four gradients and left it at that, so the steps are too long."""
    grads = solution(mean_loss, params, images, labels)
    return jax.tree.map(lambda leaf: 4 * leaf, grads)


def mistake_keeps_the_last(mean_loss, params, images, labels):
    """You overwrote the gradient in each turn, so only the last portion counts."""
    for k in range(4):
        portion = slice(k * len(images) // 4, (k + 1) * len(images) // 4)
        grads = jax.grad(mean_loss)(params, images[portion], labels[portion])
    return grads


def mistake_stacks(mean_loss, params, images, labels):
    """You mapped over the portions and forgot that the results are stacked."""
    portions = images.reshape(4, -1, 8, 8), labels.reshape(4, -1)
    return jax.vmap(jax.grad(mean_loss), in_axes=(None, 0, 0))(params, *portions)


def mistake_splits_the_labels_otherwise(mean_loss, params, images, labels):
    """You split the labels otherwise than the images, so an image got another's."""
    return solution(mean_loss, params, images, labels.reshape(-1, 4).T.reshape(-1))


def mistake_takes_all_at_once(mean_loss, params, images, labels):
    """You took the gradient of all images at once, for which there is no memory."""
    return jax.grad(mean_loss)(params, images, labels)
