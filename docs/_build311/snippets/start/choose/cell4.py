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


@jax.jit
@jax.shard_map(
    mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data")
)
def by_shard_map(params, images):    # images: one device's shard
    return batched(params, images)


logits = by_shard_map(everywhere, sharded)    # float32[512@data,10]
print(logits)
