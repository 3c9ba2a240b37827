"""What vmap does: the operations of a mapped network, and a vmap of three rules.

The program of lesson 2.  Take it as a start when you want to see what a transformation
makes of your function, or to write a small one of your own.
"""

# %%
import jax
import jax.numpy as jnp
import numpy as np

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


# %%
class Batched:
    """Stands for one example, of shape (...); holds all of them, (n, ...)."""

    def __init__(self, values):
        self.values = values

    def mean(self):
        """Return the mean of each example, (n,): over every axis but the batch."""
        rows = self.values.reshape(len(self.values), -1)
        return Batched(rows.mean(axis=1))

    def __sub__(self, other):
        """Line up the batch axes."""
        missing = self.values.ndim - other.values.ndim
        shape = other.values.shape + (1,) * missing
        return Batched(self.values - other.values.reshape(shape))

    def __matmul__(self, matrix):
        """Give all examples the same matrix."""
        return Batched(self.values @ matrix)


def my_vmap(f):
    """Map a function that uses no more than the mean, `-` and `@` of its argument."""

    def mapped(values):
        return f(Batched(values)).values

    return mapped


# %%
def main():
    """Count operations, and compare the two maps."""
    images, _ = make_images(1024, seed=0)
    images = images - images.mean(axis=0)  # takes off the lamp
    params = make_params(seed=0)

    def scores(image):
        return predict(params, image)

    def loop(images):
        return jnp.stack([scores(image) for image in images])

    for count in 16, 64:
        in_loop = len(jax.make_jaxpr(loop)(images[:count]).eqns)
        mapped = len(jax.make_jaxpr(jax.vmap(scores))(images[:count]).eqns)
        print(f"operations for {count} images: loop {in_loop}, vmap {mapped}")

    matrix = np.float32(np.random.default_rng(1).normal(size=(8, 3)))

    def project(image):
        return (image - image.mean()) @ matrix

    agree = np.allclose(my_vmap(project)(images), jax.vmap(project)(images), atol=1e-2)
    print("my_vmap agrees with vmap:", agree)


if __name__ == "__main__":
    main()
