"""The six ways to communicate, and what each costs.

The program of lesson 10.  Take it as a start when you choose between collectives: it
calls each of them on numbers that say where they come from.
"""

# %%
import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def to_the_right():
    """Return pairs of devices along `data`, each with its neighbour: a ring."""
    n = lax.axis_size("data")
    return [(device, (device + 1) % n) for device in range(n)]


# %%
@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def pass_on(row):
    """Give each device the row of its left neighbour: (n, n), a row on each device."""
    return lax.ppermute(row, "data", to_the_right())


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def gather_on_a_ring(row):
    """Give each device all rows, (n, n, n), by passing on what has come in."""
    n, me = lax.axis_size("data"), lax.axis_index("data")
    everything = jnp.zeros((n, n), row.dtype)
    for turn in range(n):
        source = (me - turn) % n  # whose row is here now
        everything = everything.at[source].set(row[0])
        row = lax.ppermute(row, "data", to_the_right())
    return everything[None]


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def gather(row):
    """Give each device all rows, (n, n, n)."""
    return lax.all_gather(row[0], "data")[None]


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def scatter_sum(row):
    """Give each device one sum of a column: together (n,)."""
    return lax.psum_scatter(row[0], "data", tiled=True)


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def sum_in_two_halves(row):
    """Give each device all sums of columns, (n, n): scattered, and then gathered."""
    mine = lax.psum_scatter(row[0], "data", tiled=True)
    return lax.all_gather(mine, "data", tiled=True)[None]


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P())
def sum_of_all(row):
    """Give all devices the same sums of columns, (n,)."""
    return lax.psum(row[0], "data")


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def exchange(row):
    """Give each device a column in place of its row, (n, n)."""
    return lax.all_to_all(row[0], "data", 0, 0, tiled=True)[None]


# %% [markdown]
# Two ways to multiply a matrix, whose rows are sharded, by itself.


# %%
@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P("data"))
def gather_first(mine):
    """Give each device all rows, (m, 64), and let each compute all: (n, 64, 64)."""
    everything = lax.all_gather(mine, "data", tiled=True)
    return (everything.T @ everything)[None]


@jax.jit
@jax.shard_map(in_specs=P("data"), out_specs=P())
def multiply_first(mine):
    """Let each device multiply its own rows, (m, 64), and add up: (64, 64)."""
    return lax.psum(mine.T @ mine, "data")


# %%
def main():
    """Compare each collective with what NumPy does, and count bytes."""
    jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    with jax.set_mesh(mesh):
        n = jax.device_count()
        rows = 10 * np.arange(n)[:, None] + np.arange(n)  # device 3 has 30, 31, 32, ...
        x = jax.device_put(rows, P("data"))
        sums = rows.sum(axis=0)

        print("ppermute:", np.array_equal(pass_on(x), np.roll(rows, 1, axis=0)))
        everything = np.tile(rows, (n, 1, 1))
        print("all_gather:", np.array_equal(gather(x), everything))
        print("the same on a ring:", np.array_equal(gather_on_a_ring(x), everything))
        print("psum_scatter:", np.array_equal(scatter_sum(x), sums))
        print("psum:", np.array_equal(sum_of_all(x), sums))
        halves = np.array_equal(sum_in_two_halves(x), np.tile(sums, (n, 1)))
        print("psum in two halves:", halves)
        print("all_to_all:", np.array_equal(exchange(x), rows.T))

        pixels = np.float32(np.arange(1024 * 64).reshape(1024, 64) % 7 - 3)
        mine = jax.device_put(pixels, P("data"))
        one, other = np.asarray(gather_first(mine))[0], multiply_first(mine)
        print("two products agree:", np.array_equal(one, other))
        rows_of_each, table = pixels.nbytes / 8, other.nbytes
        print(f"gather first, on eight devices: {7 * rows_of_each / 1000:.0f} kB")
        print(f"multiply first: {2 * 7 / 8 * table / 1000:.0f} kB")


if __name__ == "__main__":
    main()
