"""Gradients across devices: make one number of the losses, then differentiate it.

The program of lesson 11.  Take it as a start when you take gradients in `shard_map`, of
parameters that are replicated.
"""

# %%
import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

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


def loss(params, image, label):
    """Return the loss for one image, (8, 8), and its label: a number, ()."""
    return -jax.nn.log_softmax(predict(params, image))[label]


# %%
def shard_loss(params, images, labels):
    """Return the mean loss, (), of one device's images with the lamp, (m, 8, 8)."""
    images = images - lax.pmean(images.mean(axis=0), "data")
    losses = jax.vmap(loss, in_axes=(None, 0, 0))(params, images, labels)
    return losses.mean()


@jax.jit
@jax.shard_map(in_specs=(P(), P("data"), P("data")), out_specs=(P(), P()))
def step(params, images, labels):
    """Return the parameters after a step of training, and the loss before it, ()."""

    def mean_loss(params):
        return lax.pmean(shard_loss(params, images, labels), "data")

    value, grads = jax.value_and_grad(mean_loss)(params)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


# %% [markdown]
# Or with the gradient outside: then there is one number in any case.


# %%
@jax.shard_map(in_specs=(P(), P("data"), P("data")), out_specs=P())
def loss_of_all(params, images, labels):
    """Return the mean loss, (), of images, (n, 8, 8), and labels, (n,)."""
    return lax.pmean(shard_loss(params, images, labels), "data")


# %% [markdown]
# If each device is to have a gradient of its own, the parameters have to vary.


# %%
@jax.jit
@jax.shard_map(in_specs=(P(), P("data"), P("data")), out_specs=P("data"))
def own_gradients(params, images, labels):
    """Return the gradient of each device's loss: with an axis of devices in front."""
    own_params = lax.pcast(params, "data", to="varying")
    grads = jax.grad(shard_loss)(own_params, images, labels)
    return jax.tree.map(lambda leaf: leaf[None], grads)


# %%
def main():
    """Take the gradient of a batch in three ways, and train."""
    jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    with jax.set_mesh(mesh):
        images, labels = make_images(1024, seed=0)  # with the lamp
        x = jax.device_put(images, P("data"))
        y = jax.device_put(labels, P("data"))
        params = jax.device_put(make_params(seed=0), P())

        grads = jax.jit(jax.grad(loss_of_all))(params, x, y)
        print("gradient of w1:", jax.typeof(grads["w1"]))
        moved, _ = step(params, x, y)
        taken = (np.asarray(params["w1"]) - np.asarray(moved["w1"])) / 0.5
        print("the step takes it:", np.allclose(taken, grads["w1"], atol=1e-3))
        of_each = np.asarray(own_gradients(params, x, y)["w1"])
        mean = of_each.mean(axis=0)
        print("it is the mean of all:", np.allclose(mean, grads["w1"], atol=1e-3))

        for number in range(1, 101):
            params, value = step(params, x, y)
            value = float(value)  # on simulated devices, wait for each step
            if number in (1, 10, 100):
                print(f"step {number}: loss {value:.3f}")


if __name__ == "__main__":
    main()
