import jax
import jax.numpy as jnp

jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices; GPUs and TPUs stay as they are


def classify(params, image):    # one image of 64 pixels: ten logits
    hidden = jax.nn.relu(image @ params["w1"])
    return hidden @ params["w2"]


params = {"w1": jnp.ones((64, 64)), "w2": jnp.ones((64, 10))}
batched = jax.vmap(classify, in_axes=(None, 0))
many = jnp.ones((8192, 64))


def unrolled(params, images):
    return jnp.stack([classify(params, image) for image in images])


for f in [unrolled, batched]:
    of_8 = jax.make_jaxpr(f)(params, many[:8])
    of_64 = jax.make_jaxpr(f)(params, many[:64])
    print(len(of_8.eqns), "operations for 8 images,", len(of_64.eqns), "for 64")
