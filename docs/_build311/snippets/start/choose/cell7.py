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

for name, f in {
    "jit(vmap)": predict,
    "lax.map by 64": in_batches,
    "lax.map": one_by_one,
}.items():
    memory = f.lower(params, many).compile().memory_analysis()
    print(f"{name:20}{memory.temp_size_in_bytes:9,} bytes")
