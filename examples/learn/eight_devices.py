"""One batch on many devices: the same functions, and inputs that say where they lie.

The program of lesson 7.  Take it as a start when you train a network that fits into
one device, and have several of them.  It runs on as many as there are.
"""

# %%
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import P

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


predict_all = jax.vmap(predict, in_axes=(None, 0))


def center_all(images):
    """Take off the mean of all images, (n, 8, 8), which lies on all devices."""
    return images - images.mean(axis=0)


# %%
def loss(params, image, label):
    """Return the loss for one image, (8, 8), and its label: a number, ()."""
    return -jax.nn.log_softmax(predict(params, image))[label]


def mean_loss(params, images, labels):
    """Return the mean loss, (), of images with the lamp, (n, 8, 8), and labels."""
    images = images - images.mean(axis=0)
    return jax.vmap(loss, in_axes=(None, 0, 0))(params, images, labels).mean()


@jax.jit
def step(params, images, labels):
    """Return the parameters after a step of training, and the loss before it, ()."""
    value, grads = jax.value_and_grad(mean_loss)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


# %%
def communication(f, *args):
    """List what the compiled `f(*args)` communicates: pairs of a type and a name."""
    text = jax.jit(f).lower(*args).compile().as_text()
    text = re.sub(r"\{[\d,]*\}", "", text)  # the order of axes in memory
    names = "all-[a-z-]+|reduce-scatter|collective-permute"
    return re.findall(rf"= (\S+|\(.*\)) ({names})\(", text)


# %%
def main():
    """Place a batch and copies of the parameters on all devices, and train."""
    jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    with jax.set_mesh(mesh):
        images, labels = make_images(1024, seed=0)  # with the lamp
        x = jax.device_put(images, P("data"))  # some of the images on each device
        y = jax.device_put(labels, P("data"))
        params = jax.device_put(make_params(seed=0), P())  # a copy on each

        print("images:", jax.typeof(x))
        print("w1:", jax.typeof(params["w1"]))
        logits = jax.jit(predict_all)(params, x)
        print("logits:", jax.typeof(logits))
        print("communicated for them:", communication(predict_all, params, x))
        centered = jax.jit(center_all)(x)
        agree = np.allclose(centered, images - images.mean(axis=0), atol=1e-5)
        print("center_all agrees with NumPy:", agree)

        for number in range(1, 101):
            params, value = step(params, x, y)
            value = float(value)  # on simulated devices, wait for each step
            if number in (1, 10, 100):
                print(f"step {number}: loss {value:.3f}")


if __name__ == "__main__":
    main()
