"""Examples that need each other: a mean over the batch, asked for by one example.

The program of lesson 6.  Take it as a start when your function for one example needs
something from the others, such as a mean or the largest number.
"""

# %%
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

FONT = """
111101101101111 010110010010111 111001111100111 111001111001111 101101111001001
111100111001111 111100111101111 111001001001001 111101111101111 111101111001111
"""


def make_images(count, seed):
    """Return images of digits, float32 (count, 8, 8), and their labels, (count,)."""
    rng = np.random.default_rng(seed)
    font = np.array([list(bits) for bits in FONT.split()], np.float32)
    labels = rng.integers(10, size=count)
    images = 0.2 * rng.normal(size=(count, 8, 8)).astype(np.float32)  # noise
    images += np.linspace(2, 0, 8, dtype=np.float32)  # a lamp on the left
    for image, label in zip(images, labels, strict=True):
        top, left = rng.integers(2, size=2)
        image[top : top + 5, left : left + 3] += font[label].reshape(5, 3)
    return images, labels


def make_params(seed):
    """Return random parameters: w1, float32 (64, 128), and w2, (128, 10)."""
    rng = np.random.default_rng(seed)
    return {
        "w1": np.float32(rng.normal(size=(64, 128)) / 8),
        "w2": np.float32(rng.normal(size=(128, 10)) / 11),
    }


# %%
def predict(params, image):
    """Return ten numbers for one image, (8, 8): the largest is the guessed digit."""
    image = image - image.mean()
    image = image / jnp.sqrt((image**2).mean())
    hidden = jax.nn.relu(image.reshape(64) @ params["w1"])
    return hidden @ params["w2"]


predict_all = jax.jit(jax.vmap(predict, in_axes=(None, 0)))


def center(image):
    """Take off what all images along the axis `data` share, for one image, (8, 8)."""
    return image - lax.pmean(image, "data")


def mean_image_of(image):
    """Return the mean of all images along the axis `data`, (8, 8)."""
    return lax.pmean(image, "data")


# %%
def loss(params, image, label):
    """Return the loss for one image, (8, 8), lamp and all, and its label: ()."""
    logits = predict(params, center(image))
    return -jax.nn.log_softmax(logits)[label]


def mean_loss(params, images, labels):
    """Return the mean loss, (), of images, (n, 8, 8), and labels, (n,)."""
    of_each = jax.vmap(loss, in_axes=(None, 0, 0), axis_name="data")
    return of_each(params, images, labels).mean()


@jax.jit
def step(params, images, labels):
    """Return the parameters after a step of training, and the loss before it, ()."""
    value, grads = jax.value_and_grad(mean_loss)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


# %%
def main():
    """Train on images with the lamp in them, and guess new ones without it."""
    images, labels = make_images(1024, seed=0)  # the lamp is still in them
    centered = jax.vmap(center, axis_name="data")(images)
    agree = np.allclose(centered, images - images.mean(axis=0), atol=1e-5)
    print("center agrees with the line by hand:", agree)

    params = make_params(seed=0)
    for _ in range(100):
        params, value = step(params, images, labels)
    print(f"step 100: loss {value:.3f}")

    lamp = jax.vmap(mean_image_of, axis_name="data", out_axes=None)(images)
    new_images, new_labels = make_images(1024, seed=1)
    guesses = predict_all(params, new_images - lamp).argmax(axis=1)
    print("lamp:", lamp.shape)
    print(f"{np.mean(guesses == new_labels):.0%} of the new images right")


if __name__ == "__main__":
    main()
