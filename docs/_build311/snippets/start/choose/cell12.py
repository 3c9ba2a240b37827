import statistics
import time

import jax
import jax.numpy as jnp
from jax import P

jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices; GPUs and TPUs stay as they are


def classify(params, image):    # one image of 64 pixels: ten logits
    hidden = jax.nn.relu(image @ params["w1"])
    return hidden @ params["w2"]


params = {"w1": jnp.ones((64, 64)), "w2": jnp.ones((64, 10))}
images = jnp.ones((512, 64))
predict = jax.jit(jax.vmap(classify, in_axes=(None, 0)))
mesh = jax.make_mesh((8,), ("data",))
with jax.set_mesh(mesh):
    everywhere = jax.device_put(params, P())
    sharded = jax.device_put(images, P("data"))
batched = jax.vmap(classify, in_axes=(None, 0))


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


few = jnp.ones((8, 64))
with jax.set_mesh(mesh):
    few_sharded = jax.device_put(few, P("data"))
classify_one = jax.jit(classify)
add_one = jax.jit(lambda x: x + 1)
compare({
    "vmap without jit": lambda: batched(params, few),
    "Python loop": lambda: [classify_one(params, image) for image in few],
    "jit(vmap), sharded": lambda: predict(everywhere, few_sharded),
    "jit(vmap)": lambda: predict(params, few),
    "limit: one small call": lambda: add_one(1.0),
})
