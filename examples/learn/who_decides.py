"""Who decides where results lie: products of sharded arrays, as JAX asks you to say.

The program of lesson 8.  Take it as a start when JAX raises a ShardingTypeError, or
when you multiply matrices that are sharded.
"""

# %%
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType

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
def communication(f, *args):
    """List what the compiled `f(*args)` communicates: pairs of a type and a name."""
    text = jax.jit(f).lower(*args).compile().as_text()
    text = re.sub(r"\{[\d,]*\}", "", text)  # the order of axes in memory
    names = "all-[a-z-]+|reduce-scatter|collective-permute"
    return re.findall(rf"= (\S+|\(.*\)) ({names})\(", text)


# %% [markdown]
# The types of intermediate values follow from those of the inputs.


# %%
@jax.jit
def follow(pixels, w1):
    """Return the mean, (), of the strongest hidden number of each image, (n, 64)."""
    darker = pixels - 1  # sharded as the pixels are
    hidden = darker @ w1  # so is this: w1 is on every device
    strongest = hidden.max(axis=1)  # and this
    return strongest.mean()  # a sum over devices, the same for all


# %% [markdown]
# Where they do not follow, you say it.


# %%
def pixel_table(pixels, spec):
    """Return which pixels are bright together, (64, 64), placed by the spec."""
    return jnp.matmul(pixels.T, pixels, out_sharding=spec)


def weighted(pixels, weights):
    """Return the product of two arrays, (n, 64), sharded as the first one is."""
    return pixels * jax.reshard(weights, P("data"))


# %%
def main():
    """Follow the types of a program, and answer JAX where it asks."""
    jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    with jax.set_mesh(mesh):
        images, _ = make_images(1024, seed=0)
        images = images - images.mean(axis=0)  # takes off the lamp
        x = jax.device_put(images, P("data"))
        params = jax.device_put(make_params(seed=0), P())

        pixels = x.reshape(1024, 64)
        print("pixels:", jax.typeof(pixels))
        strongest = follow(pixels, params["w1"])
        print(
            f"strongest, on average: {strongest:.1f}, of type {jax.typeof(strongest)}"
        )
        of_each = communication(lambda p, w: (p @ w).max(axis=1), pixels, params["w1"])
        print("communicated for the strongest number of each image:", of_each)

        for_all = pixel_table(pixels, P())
        by_rows = pixel_table(pixels, P("data"))
        print("a table for all:", jax.typeof(for_all))
        print("a table by rows:", jax.typeof(by_rows))
        print("they agree:", np.allclose(for_all, by_rows, atol=2))

        weights = jax.device_put(np.ones((1024, 64), np.float32), P(None, "data"))
        product = jax.jit(weighted)(pixels, weights)
        print(jax.typeof(weights), "becomes", jax.typeof(product))

    axes = (AxisType.Auto,)
    auto = jax.make_mesh((jax.device_count(),), ("data",), axis_types=axes)
    with jax.set_mesh(auto):
        pixels = jax.device_put(images.reshape(1024, 64), P("data"))
        print("on an Auto axis:", jax.typeof(pixels))
        table = jax.jit(lambda p: p.T @ p)(pixels)
        print("the same table:", np.allclose(table, for_all, atol=2))


if __name__ == "__main__":
    main()
