"""Maps in maps: all pairs, devices and examples, and devices of two kinds.

The program of lesson 13.  Take it as a start when you compare all pairs, or when a
single product is too large for one device: the batch is divided along one axis of
devices, and the matrices along the other.
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


# %% [markdown]
# All pairs: each of the two maps slices one argument, and shares the other.


# %%
def distance(image, other):
    """Return the sum of the squared differences, (), of two images, each (8, 8)."""
    return ((image - other) ** 2).sum()


one_to_all = jax.vmap(distance, in_axes=(None, 0))  # (8, 8) and (n, 8, 8) to (n,)
every_pair = jax.vmap(one_to_all, in_axes=(0, None))  # (m, 8, 8), (n, 8, 8) to (m, n)


# %% [markdown]
# Devices and examples: a collective over both, in a function for one image.


# %%
def center(image):
    """Return one image, (8, 8), without the mean of all images on all devices."""
    return image - lax.pmean(image, ("batch", "data"))


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"), check_vma=False)
def center_shards(images):
    """Return images, (n, 8, 8), without their mean; each device has some of them."""
    return jax.vmap(center, axis_name="batch")(images)


# %% [markdown]
# Two axes of devices: the images are divided along `data`, the matrices along `model`.

# %%
specs = {"w1": P(None, "model"), "w2": P("model", None)}


def predict_part(params, image):
    """Return the logits, (10,), of one image; a device has some hidden numbers."""
    image = image - image.mean()
    image = image / jnp.sqrt((image**2).mean())
    hidden = jax.nn.relu(image.reshape(64) @ params["w1"])
    part = hidden @ params["w2"]
    return lax.psum(part, "model")


@jax.jit
@jax.shard_map(in_specs=(specs, P("data")), out_specs=P("data"))
def predict_all(params, images):
    """Return the logits, (n, 10), of images, (n, 8, 8), lamp and all."""
    images = images - lax.pmean(images.mean(axis=0), "data")
    return jax.vmap(predict_part, in_axes=(None, 0))(params, images)


@jax.shard_map(in_specs=(specs, P("data"), P("data")), out_specs=P())
def loss_of_all(params, images, labels):
    """Return the mean loss, (), of images, (n, 8, 8), and labels, (n,)."""
    images = images - lax.pmean(images.mean(axis=0), "data")
    logits = jax.vmap(predict_part, in_axes=(None, 0))(params, images)
    chosen = jax.vmap(lambda row, label: jax.nn.log_softmax(row)[label])(logits, labels)
    return lax.pmean(-chosen.mean(), "data")


@jax.jit
def step(params, images, labels):
    """Return the parameters after a step, placed as before, and the loss, ()."""
    value, grads = jax.value_and_grad(loss_of_all)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


# %%
def main():
    """Compare pairs, center the images, and train with divided matrices."""
    jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices
    n = jax.device_count()
    lengths = (n // 2, 2) if n % 2 == 0 else (n, 1)
    mesh = jax.make_mesh(lengths, ("data", "model"))
    with jax.set_mesh(mesh):
        images, labels = make_images(1024, seed=0)  # with the lamp
        table = every_pair(images[:6], images[:4])
        print("six images and the first four:", table.shape)

        x = jax.device_put(images, P("data"))
        y = jax.device_put(labels, P("data"))
        by_hand = images - images.mean(axis=0)
        agree = np.allclose(center_shards(x), by_hand, atol=1e-5)
        print("the mean is that of all:", agree)

        params = jax.device_put(make_params(seed=0), specs)
        expected = jax.vmap(predict, in_axes=(None, 0))(make_params(seed=0), by_hand)
        agree = np.allclose(predict_all(params, x), expected, atol=5e-2)
        print("divided matrices give the same logits:", agree)

        for _ in range(100):
            params, value = step(params, x, y)
            value = float(value)  # on simulated devices, wait for each step
        print(f"loss after 100 steps: {value:.3f}")


if __name__ == "__main__":
    main()
