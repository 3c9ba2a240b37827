"""Read old code: a training with pmap, and what it becomes today.

The program of lesson 14.  Take it as a start when you port a program from `pmap`: old
and new stand below each other, and are compared after one step.
"""

# %%
from functools import partial

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


def shard_loss(params, images, labels):
    """Return the mean loss, (), of one device's images, (m, 8, 8), lamp and all."""
    images = images - lax.pmean(images.mean(axis=0), "data")
    losses = jax.vmap(loss, in_axes=(None, 0, 0))(params, images, labels)
    return losses.mean()


# %% [markdown]
# Old: an axis of the devices in front of everything, (d, ...), parameters included.


# %%
@partial(jax.pmap, axis_name="data")
def old_step(params, images, labels):
    """Return the parameters after a step, and the loss, (d,): all entries are equal."""
    value, grads = jax.value_and_grad(shard_loss)(params, images, labels)
    grads = lax.pmean(grads, axis_name="data")
    params = jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)
    return params, lax.pmean(value, axis_name="data")


def train_old(params, images, labels, steps):
    """Return what training with pmap makes of `params`, and the last loss, ()."""
    n = jax.local_device_count()
    replicated = jax.tree.map(lambda p: jnp.stack([p] * n), params)
    device_images = images.reshape(n, -1, 8, 8)
    device_labels = labels.reshape(n, -1)
    for _ in range(steps):
        replicated, value = old_step(replicated, device_images, device_labels)
        last = float(value[0])  # on simulated devices, wait for each step
    return jax.tree.map(lambda p: p[0], replicated), last


# %% [markdown]
# New: natural shapes; the devices are in the types.


# %%
@jax.jit
@jax.shard_map(in_specs=(P(), P("data"), P("data")), out_specs=(P(), P()))
def step(params, images, labels):
    """Return the parameters after a step, and the loss before it, ()."""

    def mean_loss(params):
        return lax.pmean(shard_loss(params, images, labels), "data")

    value, grads = jax.value_and_grad(mean_loss)(params)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


def train_new(params, images, labels, steps):
    """Return what training on the mesh makes of `params`, and the last loss, ()."""
    x = jax.device_put(images, P("data"))
    y = jax.device_put(labels, P("data"))
    params = jax.device_put(params, P())
    for _ in range(steps):
        params, value = step(params, x, y)
        last = float(value)
    return params, last


# %%
def main():
    """Train with both, and compare them after one step."""
    jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices
    images, labels = make_images(1024, seed=0)  # with the lamp
    params = make_params(seed=0)

    with jax.set_mesh(None):  # pmap makes its own mesh
        old_params, _ = train_old(params, images, labels, steps=1)
        _, old_loss = train_old(params, images, labels, steps=100)
    print(f"old: loss after 100 steps: {old_loss:.3f}")

    mesh = jax.make_mesh((jax.local_device_count(),), ("data",))
    with jax.set_mesh(mesh):
        new_params, _ = train_new(params, images, labels, steps=1)
        _, new_loss = train_new(params, images, labels, steps=100)
    print(f"new: loss after 100 steps: {new_loss:.3f}")

    for name in params:
        old, new = np.asarray(old_params[name]), np.asarray(new_params[name])
        print(f"{name} is the same after one step:", np.allclose(old, new, atol=1e-3))


if __name__ == "__main__":
    main()
