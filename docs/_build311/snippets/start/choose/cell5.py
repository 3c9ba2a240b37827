import jax
import jax.numpy as jnp
from jax import P

jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices; GPUs and TPUs stay as they are


def classify(params, image):    # one image of 64 pixels: ten logits
    hidden = jax.nn.relu(image @ params["w1"])
    return hidden @ params["w2"]


params = {"w1": jnp.ones((64, 64)), "w2": jnp.ones((64, 10))}
images = jnp.ones((512, 64))
mesh = jax.make_mesh((8,), ("data",))
with jax.set_mesh(mesh):
    everywhere = jax.device_put(params, P())
    sharded = jax.device_put(images, P("data"))
batched = jax.vmap(classify, in_axes=(None, 0))

by_pmap = jax.pmap(batched, axis_name="data", in_axes=(None, 0))

folded = sharded.reshape(8, 64, 64)      # float32[8@data,64,64]
logits = by_pmap(everywhere, folded)     # float32[8,64,10]: entry 3 on device 3
print(logits)
