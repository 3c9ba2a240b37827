"""Which axis, of what: one network and many images, and many networks and one image.

The program of lesson 3.  Take it as a start when the arguments of your function are
not all batches, or when you want an ensemble.
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
# All images share the parameters.

# %%
predict_all = jax.vmap(predict, in_axes=(None, 0))


# %%
def make_ensemble(count):
    """Return the parameters of `count` networks: w1, (count, 64, 128), and w2."""
    networks = [make_params(seed) for seed in range(count)]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *networks)


# %%
def main():
    """Map the images, and then the parameters."""
    images, _ = make_images(1024, seed=0)
    images = images - images.mean(axis=0)  # takes off the lamp
    params = make_params(seed=0)

    logits = predict_all(params, images)
    in_a_loop = np.stack([predict(params, image) for image in images])
    print("one network, all images:", logits.shape)
    print("vmap agrees with the loop:", np.allclose(logits, in_a_loop, atol=5e-2))

    ensemble = make_ensemble(5)
    answers = jax.vmap(predict, in_axes=(0, None))(ensemble, images[0])
    print("five networks, one image:", answers.shape)
    votes = answers.argmax(axis=1)
    print("their votes:", votes)


if __name__ == "__main__":
    main()
