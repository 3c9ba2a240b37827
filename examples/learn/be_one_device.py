"""Be one device: functions that see a shard, and ask the others where they have to.

The program of lesson 9.  Take it as a start when you want to write down yourself what
devices communicate, with `shard_map` over the devices and `vmap` on each of them.
"""

# %%
import re

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


def communication(f, *args):
    """List what the compiled `f(*args)` communicates: pairs of a type and a name."""
    text = jax.jit(f).lower(*args).compile().as_text()
    text = re.sub(r"\{[\d,]*\}", "", text)  # the order of axes in memory
    names = "all-[a-z-]+|reduce-scatter|collective-permute"
    return re.findall(rf"= (\S+|\(.*\)) ({names})\(", text)


# %%
def center(image):
    """Take off what all images along `data` share: for one image, or one a device."""
    return image - lax.pmean(image, "data")


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def center_shards(images):
    """Take off the mean of all images: (n, 8, 8), of which a device sees some."""
    mine = images.mean(axis=0)
    return images - lax.pmean(mine, "data")


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P())
def mean_image(images):
    """Return the mean of all images, (8, 8), the same on every device."""
    return lax.pmean(images.mean(axis=0), "data")


@jax.jit
@jax.shard_map(in_specs=(P(), P("data")), out_specs=P("data"))
def predict_shards(params, images):
    """Return the logits, (n, 10), of images, (n, 8, 8), lamp and all."""
    images = images - lax.pmean(images.mean(axis=0), "data")
    return jax.vmap(predict, in_axes=(None, 0))(params, images)


# %%
def main():
    """Center images and predict from one device's view, and compare with NumPy's."""
    jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    with jax.set_mesh(mesh):
        images, _ = make_images(1024, seed=0)  # with the lamp
        x = jax.device_put(images, P("data"))
        params = jax.device_put(make_params(seed=0), P())
        by_hand = images - images.mean(axis=0)

        one_each = jax.device_put(images[: jax.device_count()], P("data"))
        by_devices = jax.shard_map(center, in_specs=P("data"), out_specs=P("data"))
        by_vmap = jax.vmap(center, axis_name="data")
        expected = by_vmap(np.asarray(one_each))
        agree = np.allclose(jax.jit(by_devices)(one_each), expected, atol=1e-5)
        print("one image on each device, as under vmap:", agree)

        agree = np.allclose(center_shards(x), by_hand, atol=1e-5)
        print("some on each device, as by hand:", agree)
        print("lamp:", jax.typeof(mean_image(x)))

        logits = predict_shards(params, x)
        print("logits:", jax.typeof(logits))
        expected = jax.vmap(predict, in_axes=(None, 0))(make_params(seed=0), by_hand)
        print("as without shard_map:", np.allclose(logits, expected, atol=5e-2))
        types = [name for name, _ in communication(predict_shards, params, x)]
        small = all("f32[8,8]" in one for one in types)
        print("only a mean image is communicated:", small)


if __name__ == "__main__":
    main()
