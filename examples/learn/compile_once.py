"""Compile once: a mapped network as one program, and how often Python reads it.

The program of lesson 4.  Take it as a start when you call the same function again and
again, for arrays of the same shapes.
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


# %% [markdown]
# `jit` is outside: what is inside is recorded once for each shape.

# %%
predict_all = jax.jit(jax.vmap(predict, in_axes=(None, 0)))


# %%
def main():
    """Count how often Python passes through the function, and compare the numbers."""
    images, _ = make_images(1024, seed=0)
    images = images - images.mean(axis=0)  # takes off the lamp
    params = make_params(seed=0)
    passes = []

    def predict_and_count(params, image):
        passes.append(image.shape)
        return predict(params, image)

    mapped = jax.vmap(predict_and_count, in_axes=(None, 0))
    fast = jax.jit(mapped)
    for _ in range(3):
        fast(params, images)
    print("Python's passes in three calls:", len(passes))
    fast(make_params(seed=1), images)
    print("and with other values:", len(passes))
    fast(params, images[:1000])
    print("and with fewer images:", len(passes))
    agree = np.allclose(predict_all(params, images), mapped(params, images), atol=5e-2)
    print("with jit as without:", agree)


if __name__ == "__main__":
    main()
