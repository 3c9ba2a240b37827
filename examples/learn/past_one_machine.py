"""Past one machine: the training of lesson 12, in one process or in several.

The program of lesson 15, and the last one of the course.  Every process runs it, makes
its own part of the images, and trains with all others on one mesh.

One process: `python past_one_machine.py`.  Two, in two terminals:
`python past_one_machine.py 2 0` and `python past_one_machine.py 2 1`, each with
JAX_COORDINATOR_ADDRESS=localhost:12345 in its environment, and on a laptop
JAX_PLATFORMS=cpu and JAX_NUM_CPU_DEVICES=4.
"""

# %%
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType, Mesh

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
    """Return the loss of one image, (8, 8), with its label, ()."""
    return -jax.nn.log_softmax(predict(params, image))[label]


def mean_loss(params, images, labels):
    """Return the mean loss of a batch, (n, 8, 8) and (n,), wherever it lies."""
    params = jax.reshard(params, P())
    images = images - images.mean(axis=0)
    return jax.vmap(loss, in_axes=(None, 0, 0))(params, images, labels).mean()


@jax.jit
def step(params, images, labels):
    """Return the parameters after one step, and the loss before it."""
    value, grads = jax.value_and_grad(mean_loss)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


# %%
def my_images(process, processes):
    """Return the images and labels that this process has to bring."""
    images, labels = make_images(1024, seed=0)  # a real program reads its own files
    first = process * 1024 // processes
    last = (process + 1) * 1024 // processes
    return images[first:last], labels[first:last]


# %%
def main(processes=1, process=0):
    """Train on the devices of all processes; the first one says how it goes."""
    if processes > 1:
        jax.distributed.initialize(num_processes=processes, process_id=process)
    else:
        jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices
    mesh = Mesh(jax.devices(), ("data",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        images, labels = my_images(process, processes)
        by_rows = jax.NamedSharding(mesh, P("data"))
        x = jax.make_array_from_process_local_data(by_rows, images)
        y = jax.make_array_from_process_local_data(by_rows, labels)
        params = jax.device_put(make_params(seed=0), P("data"))
        print(f"process {process} brings {len(images)} of {len(x)} images")
        for _ in range(100):
            params, value = step(params, x, y)
            value = float(value)
    if process == 0:  # the loss is the same in all processes
        print(f"loss after 100 steps: {value:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
