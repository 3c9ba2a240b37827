# %%
# One Function, Many Devices: vmap, pmap, jit and shard_map in JAX
# Verified on JAX 0.10.2: pip install jax==0.10.2
import warnings
from importlib.metadata import version

import jax

jax.config.update("jax_platforms", "cpu")  # these two lines simulate devices;
jax.config.update("jax_num_cpu_devices", 8)  # where you have eight, drop both

if version("jax") != "0.10.2":
    told = "verified on JAX 0.10.2, and this is " + version("jax")
    warnings.warn(told, stacklevel=1)

# %% [markdown]
# # One Function, Many Devices: vmap, pmap, jit and shard_map in JAX
#
# A free book for people who write JAX and have a whole batch to run, or more than one device.
# You write a function for one example, or for what one device holds, and a **map** runs it for all of them.
# Each page says what a map does to your function, what it costs and how it fails, in programs that ran and that you can copy.
# Install JAX with `pip install jax`. To learn, begin with lesson 1; to look around, take five minutes. Two lines simulate eight devices on any machine.

# %%
import jax
import jax.numpy as jnp
from jax import P, lax

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

# %% [markdown]
# In the comments, `8@rows` is an axis of length 8, sharded over mesh axis `rows`.

# %% [markdown]
# [Figure: Eight devices, each with one row of four numbers, 0 to 31; after centering each device holds its row minus the mean of its columns, -14 to 14.]

# %% [markdown]
# Verified in this build, on JAX 0.10.2: 3 pages, 32 cells, 41 assertions, and 10 programs to copy.
#
# - **I have a problem**
#
#   or look at all messages, and at what people ask.
#
# - **I want to learn**
#
#   Begin with lesson 1. Fifteen lessons lead from a loop over pictures to training on eight devices and in several processes; you need NumPy, and no GPU.
#
# - **I have pmap code**
#
#   The way out says for every argument of [`pmap`](https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html#jax.pmap) what to write now. What pmap is today says what else has changed.
#
# ## The map decides where the function runs
#
# The mean needs all rows, and `center` has only one. So it calls the collective [`lax.pmean`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmean.html#jax.lax.pmean) with the name of an axis. Any map that gives an axis this name can run `center`:
#
# | the rows are | write | the mean is computed by |
# | --- | --- | --- |
# | on one device | `jax.vmap(center, axis_name="rows")` | `pmean`, as a mean over an axis of the array |
# | sharded, one row on each device | `jax.shard_map(center, in_specs=P("rows"), out_specs=P("rows"))` | `pmean`, which communicates between the devices |
# | sharded in the same way, along one mesh axis | `jax.smap(center, in_axes=0, out_axes=0, axis_name="rows")` | `pmean`, as with [`shard_map`](https://docs.jax.dev/en/latest/_autosummary/jax.shard_map.html#jax.shard_map) |
# | sharded in the same way, in older code | `jax.pmap(center, axis_name="rows")` | `pmean`, as with `shard_map` |
# | sharded in any way | `jax.jit(lambda x: x - x.mean(axis=0))`, without `center` | `mean`, for which the compiler chooses the communication |
#
# All five agree with a loop over the rows, up to rounding.
#
# If each device has several rows, `shard_map` gives `center` all of them at once. `pmean` then averages over the devices only, not over the rows of each.
# Write `lax.pmean(x.mean(axis=0), "rows")` there: without the inner mean the result is wrong, and JAX raises no error.

# %% [markdown]
# Compiled for the devices of this build, and for larger hardware, the program of `shard_map` has one collective:
#
# **CPU ×8, this build**
#
# | compiled for | collective, and the bytes that a device puts in | memory of a device | flops |
# | --- | --- | --- | --- |
# | 8 × cpu | **all-reduce** of 16 B, all 8 | 32 B<br>16 B arguments, 16 B outputs | 12 |
#
# From the program for 8 × cpu:
#
# ```text
# psum_invariant.7 = f32[1,4] all-reduce(param.1), replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=region_0.0
# ```
#
# **TPU generations**
#
# | compiled for | collective, and the bytes that a device puts in | memory of a device | flops |
# | --- | --- | --- | --- |
# | TPU v3, 4 chips of 2 cores | **all-reduce** of 16 B, all 8, over rows | 111 kB of 16.6 GB, 0.000665 %<br>1.02 kB arguments, 1.02 kB outputs, 31.7 kB temporaries, 76.8 kB code | 12 |
# | TPU v4, 8 chips | **all-reduce** of 16 B, all 8, over rows | 112 kB of 33 GB, 0.00034 %<br>512 B arguments, 512 B outputs, 111 kB code | 12 |
# | TPU v5e, 8 chips | **all-reduce** of 16 B, all 8, over rows | 56.3 kB of 16.9 GB, 0.000333 %<br>512 B arguments, 512 B outputs, 55.3 kB code | 12 |
# | TPU v5p, 8 chips | **all-reduce** of 16 B, all 8, over rows | 151 kB of 103 GB, 0.000147 %<br>512 B arguments, 512 B outputs, 65 kB temporaries, 85 kB code | 12 |
# | TPU v6e, 8 chips | **all-reduce** of 16 B, all 8, over rows | 67.6 kB of 33.5 GB, 0.000201 %<br>512 B arguments, 512 B outputs, 66.6 kB code | 12 |
# | TPU7x, 4 chips of 2 cores | **all-reduce** of 16 B, all 8, over rows | 84 kB of 102 GB, 8.25e-05 %<br>512 B arguments, 512 B outputs, 82.9 kB code | 12 |
# | TPU v5e, 256 chips | **all-reduce** of 16 B, all 256, over rows | 156 kB of 16.9 GB, 0.000923 %<br>512 B arguments, 512 B outputs, 155 kB code | 12 |
# | TPU v6e, 256 chips | **all-reduce** of 16 B, all 256, over rows | 76.8 kB of 33.5 GB, 0.000229 %<br>512 B arguments, 512 B outputs, 75.8 kB code | 12 |
# | TPU v5p, 512 chips | **all-reduce** of 16 B, all 512, over rows | 169 kB of 103 GB, 0.000164 %<br>512 B arguments, 512 B outputs, 65 kB temporaries, 103 kB code | 12 |
# | TPU v5p, 8,960 chips | **all-reduce** of 16 B, all 8,960, over rows | 298 kB of 103 GB, 0.00029 %<br>512 B arguments, 512 B outputs, 65 kB temporaries, 232 kB code | 12 |
#
# From the program for TPU v5p, 8 chips:
#
# ```text
# psum_invariant.7 = f32[1,4] all-reduce(param.1), replica_groups=mesh['rows'=8] {'rows'}, to_apply=region_0.0
# ```
#
# Compiled for these chips by jax 0.12.0.1 and libtpu 0.0.50.1; it did not run. Of a loop, the FLOPs are those of one iteration.
#
# **H100 ×8**
#
# | compiled for | collective, and the bytes that a device puts in | memory of a device | flops |
# | --- | --- | --- | --- |
# | 8 H100 | **all-reduce** of 16 B, all 8, over rows | 32 B of 84.9 GB, 3.77e-08 %<br>16 B arguments, 16 B outputs | not said |
#
# From the program for 8 H100:
#
# ```text
# psum_invariant.7.2 = f32[1,4] all-reduce(copy.2), replica_groups=mesh['rows'=8] {'rows'}, to_apply=region_0.0
# ```
#
# Compiled for these chips by jax 0.12.0.1 and jax-cuda13-plugin 0.12.0.1; it did not run.
#
# ## Find the page you need
#
# Which map to write, and when to leave `jit(vmap(f))`, is one short list. The list below leads from what you want to do to the page on it.
#
# - **Your data fits on one device**
#   - A function and a batch: `jit(vmap(f))`. What vmap does, and which axis it maps
#   - Arguments that are not arrays, and methods: options through vmap and jit
#   - All pairs of two batches: vmap in vmap
#   - Rows of different lengths: pad and mask, or segment_sum
#   - Many models at once, in plain JAX, Flax or Equinox: an ensemble
#   - It does not fit after all: lax.map in batches
#   - You know NumPy and are new to this: five minutes, then what changes
# - **You have several devices**
#   - Examples that do not need each other: spread the batch over them, and call the same `jit(vmap(f))`
#   - Devices that communicate: shard_map, and its collectives
#   - Train a network: data-parallel, FSDP, tensor-parallel, both, a pipeline, and what goes around the step
#   - Generate text: a sharded KV cache
#   - Simulate: Monte Carlo, stencils with halo exchange
#   - Gradients over devices: the factor of N
#   - Sharded matrices: which collective a product needs
#   - Arrays on a grid: a mesh, and who decides what lies where
#   - Code that says `pmap`: what it is today, and how to leave it
#   - What a collective costs: latency plus bytes over bandwidth
#   - Devices you do not have: compile for them
#   - Several hosts: one mesh of their processes, data, checkpoints
#   - Slurm, GKE, TPU VMs, SkyPilot, Ray: launch files
#   - Thousands of chips: what a step costs as they grow
# - **It raises, hangs, or is slow**
#   - It shows a message: paste it into the search
#   - An output is said not to be replicated: what the message means
#   - It waits forever: why shard_map hangs
#   - One of several processes failed: what the others say
#   - Every call is slow: one jit, outermost, and fewer calls
#   - It compiles at every call: find out why
#   - The numbers differ in the last digits: why, and which tolerance
#   - A tutorial's code fails: then and now
# - **You have a question**
#   - What people ask, each with a link to its answer
#   - What a word means here, and in JAX
#
# ## A course of fifteen lessons, from a loop to many machines
#
# The course begins with a function for one picture and a loop, and ends with that function training in two processes. Each lesson opens with a problem that the next idea solves, and gives you the program as it has grown so far.
# Read it if you want to understand; the other chapters are for looking things up.
#
# ## What was run, and on which hardware
#
# *Copy* takes code as it is shown; *Copy runnable* takes it with all it needs, as a program that ran alone. Where such a program would print nothing, the button is *Copy with imports*.
# To change lessons and run them in JupyterLab, build the book and run `python -m nox -s play`.
#
# Every page that runs code ends with the version of JAX, the devices and the day of its run; the record lists all pages, and the runs on other machines.
# Eight simulated devices run the same sharded program as eight real ones, with results equal up to rounding, and say nothing about speed. Times of GPUs and TPUs are computed from bytes and bandwidths, read from their compilers, or cited, and the page says which; the list of builds shows what has run on real ones.
#
# **In short**
#
# - Write the function for one example, or for one device. Where it needs the other examples or devices, call a collective with the name of the axis.
# - When the data grows, change the map. If each device has several rows, the function reduces these first, and then over the devices.
