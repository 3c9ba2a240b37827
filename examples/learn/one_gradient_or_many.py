"""Gradients of one and of many: train a network, and find the image that hurts most.

The program of lesson 5.  Take it as a start when you train a small network, or when
you need the gradient of each example.
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


predict_all = jax.jit(jax.vmap(predict, in_axes=(None, 0)))


# %%
def loss(params, image, label):
    """Return the loss for one image, (8, 8), and its label: a number, ()."""
    return -jax.nn.log_softmax(predict(params, image))[label]


def mean_loss(params, images, labels):
    """Return the mean loss, (), of images, (n, 8, 8), and labels, (n,)."""
    losses = jax.vmap(loss, in_axes=(None, 0, 0))(params, images, labels)
    return losses.mean()


@jax.jit
def step(params, images, labels):
    """Return the parameters after a step of training, and the loss before it, ()."""
    value, grads = jax.value_and_grad(mean_loss)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


def accuracy(params, images, labels):
    """Return for which part of the images, (n, 8, 8), the guess is the label, ()."""
    return (predict_all(params, images).argmax(axis=1) == labels).mean()


# %% [markdown]
# The gradient of each image: a leaf of the parameters gets an axis in front.

# %%
grad_of_each = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0)))


def length(grads):
    """Return the length of one gradient, a tree like the parameters: a number, ()."""
    return jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(grads)))


# %%
def main():
    """Train, look at new images, and find the image with the longest gradient."""
    images, labels = make_images(1024, seed=0)
    mean_image = images.mean(axis=0)
    images = images - mean_image  # takes off the lamp
    new_images, new_labels = make_images(1024, seed=1)
    new_images = new_images - mean_image

    params = make_params(seed=0)
    for number in range(1, 101):
        params, value = step(params, images, labels)
        if number in (1, 10, 100):
            print(f"step {number}: loss {value:.3f}")
    print(f"new images: {accuracy(params, new_images, new_labels):.0%} right")

    of_each = grad_of_each(params, images, labels)
    lengths = jax.vmap(length)(of_each)
    print("gradients of w1:", of_each["w1"].shape)
    print("image with the longest gradient:", lengths.argmax())


if __name__ == "__main__":
    main()
