import statistics
import time

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices; GPUs and TPUs stay as they are


def classify(params, image):    # one image of 64 pixels: ten logits
    hidden = jax.nn.relu(image @ params["w1"])
    return hidden @ params["w2"]


params = {"w1": jnp.ones((64, 64)), "w2": jnp.ones((64, 10))}
predict = jax.jit(jax.vmap(classify, in_axes=(None, 0)))


@jax.jit
def one_by_one(params, images):
    return lax.map(lambda image: classify(params, image), images)


@jax.jit
def in_batches(params, images):
    return lax.map(lambda image: classify(params, image), images, batch_size=64)


many = jnp.ones((8192, 64))


def compare(calls, rounds=15):
    for _ in range(12):    # the first round compiles
        jax.block_until_ready([call() for call in calls.values()])
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():    # the calls take turns
            start = time.perf_counter()
            jax.block_until_ready(call())
            seconds[name].append(time.perf_counter() - start)
    print(jax.devices()[0].device_kind, rounds, "rounds, µs: median, quartiles")
    for name, taken in seconds.items():
        low, median, high = [1e6 * q for q in statistics.quantiles(taken, n=4)]
        print(f"{name:24}{median:7.0f}{low:7.0f}{high:7.0f}")


square = jnp.ones((340, 340))
product = jax.jit(jnp.matmul)
compare({
    "lax.map": lambda: one_by_one(params, many),
    "lax.map by 64": lambda: in_batches(params, many),
    "jit(vmap)": lambda: predict(params, many),
    "limit: one product": lambda: product(square, square),
})
