import jax
import jax.numpy as jnp
from jax import P, lax

jax.config.update("jax_platforms", "cpu")  # these two lines simulate devices;
jax.config.update("jax_num_cpu_devices", 8)  # where you have eight, drop both


def center(row):                           # minus the mean
    return row - lax.pmean(row, "rows")    # of all rows


x = jnp.arange(32.0).reshape(8, 4)
by_vmap = jax.vmap(center, axis_name="rows")(x)

jax.set_mesh(jax.make_mesh((8,), ("rows",)))
sharded = jax.device_put(x, P("rows"))     # float32[8@rows,4]
mapped = jax.shard_map(
    center, in_specs=P("rows"), out_specs=P("rows")
)
by_shard_map = mapped(sharded)             # float32[8@rows,4]
print(by_shard_map)
