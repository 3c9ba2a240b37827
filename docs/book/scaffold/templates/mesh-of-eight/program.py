"""TODO: what the program of the lesson NAME does, and when to start from it."""

# %%
import jax
import numpy as np
from jax import P, lax


# %%
def numbers():
    """Return sixteen whole numbers, float32 (16,)."""
    return np.arange(16, dtype=np.float32) * 5 % 16


@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def below_highest(x):
    """Return how far each number of `x`, (n,), is below the highest of all."""
    return lax.pmax(x.max(), "data") - x


# %% [markdown]
# TODO: what comes now, where the code does not say it.


# %%
def main():
    """Compare eight devices with one."""
    jax.set_mesh(jax.make_mesh((8,), ("data",)))
    x = jax.device_put(numbers(), P("data"))
    print(np.array_equal(below_highest(x), numbers().max() - numbers()))


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
