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
logits = predict(params, images)       # float32[512,10]: on one device

mesh = jax.make_mesh((8,), ("data",))
with jax.set_mesh(mesh):
    everywhere = jax.device_put(params, P())
    sharded = jax.device_put(images, P("data"))
logits = predict(everywhere, sharded)  # float32[512@data,10]: on eight devices
print(logits)
