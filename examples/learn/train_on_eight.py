"""Train on all devices, with copies of the parameters or with a part on each.

The program of lesson 12.  Take it as a start for training of your own: the batch is
sharded, and the spec of the parameters says whether a device stores all of them or a
part.  It runs on as many devices as there are.
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


def mean_loss(params, images, labels):
    """Return the mean loss, (), of images with the lamp, (n, 8, 8), and labels."""
    images = images - images.mean(axis=0)
    return jax.vmap(loss, in_axes=(None, 0, 0))(params, images, labels).mean()


# %%
def mean_loss_fsdp(params, images, labels):
    """Return the mean loss, (), with parameters that may be stored in parts."""
    params = jax.reshard(params, P())  # collect all parts, for this moment
    return mean_loss(params, images, labels)


@jax.jit
def step_fsdp(params, images, labels):
    """Return the parameters after a step, placed as before, and the loss, ()."""
    value, grads = jax.value_and_grad(mean_loss_fsdp)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


# %% [markdown]
# The same step from within, for parameters in parts.


# %%
@jax.jit
@jax.shard_map(in_specs=(P("data"), P("data"), P("data")), out_specs=(P("data"), P()))
def step_within(mine, images, labels):
    """Return a device's parts of the parameters after a step, and the loss, ()."""

    def loss_of_all(mine):
        def gather(part):
            return lax.all_gather(part, "data", tiled=True)

        params = jax.tree.map(gather, mine)
        centered = images - lax.pmean(images.mean(axis=0), "data")
        losses = jax.vmap(loss, in_axes=(None, 0, 0))(params, centered, labels)
        return lax.pmean(losses.mean(), "data")

    value, grads = jax.value_and_grad(loss_of_all)(mine)
    return jax.tree.map(lambda p, g: p - 0.5 * g, mine, grads), value


# %%
def train(step, params, images, labels, steps=100):
    """Return the parameters after some steps, and the loss before the last one."""
    for _ in range(steps):
        params, value = step(params, images, labels)
        value = float(value)  # on simulated devices, wait for each step
    return params, value


@jax.jit
def accuracy(params, images, labels):
    """Return for which part of the images, (n, 8, 8), the guess is the label, ()."""
    params = jax.reshard(params, P())
    logits = jax.vmap(predict, in_axes=(None, 0))(params, images)
    return (logits.argmax(axis=1) == labels).mean()


# %%
def main():
    """Train with copies, with parts, and from within; then look at new images."""
    jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    with jax.set_mesh(mesh):
        images, labels = make_images(1024, seed=0)  # with the lamp
        batch = jax.device_put((images, labels), P("data"))

        copies = jax.device_put(make_params(seed=0), P())
        parts = jax.device_put(make_params(seed=0), P("data"))
        print("w1 as a copy:", jax.typeof(copies["w1"]))
        print("w1 in parts: ", jax.typeof(parts["w1"]))

        _, value = train(step_fsdp, copies, *batch)
        print(f"copies: loss {value:.3f}")
        params, value = train(step_fsdp, parts, *batch)
        print(f"parts:  loss {value:.3f}")
        _, value = train(step_within, parts, *batch)
        print(f"parts, in shard_map: loss {value:.3f}")

        new_images, new_labels = make_images(1024, seed=1)
        new_images = new_images - images.mean(
            axis=0
        )  # the lamp, of the images of training
        new = jax.device_put((new_images, new_labels), P("data"))
        print(f"new images: {accuracy(params, *new):.0%} right")


if __name__ == "__main__":
    main()
