# %%
# Choose between a loop, lax.map, scan, vmap, pmap, jit with sharding and shard_map
# Verified on JAX 0.10.2: pip install jax==0.10.2
import warnings
from importlib.metadata import version

if version("jax") != "0.10.2":
    told = "verified on JAX 0.10.2, and this is " + version("jax")
    warnings.warn(told, stacklevel=1)

# %% [markdown]
# # Choose between a loop, lax.map, scan, vmap, pmap, jit with sharding and shard_map
#
# You have a function for one example, and a batch of them. Write `jax.jit(jax.vmap(f))`: it makes one program in which each operation works on all examples together, and this is what a CPU, GPU or TPU does well.
# Leave it only for a reason. There are three: the examples' intermediate results do not fit in memory, one example needs the result of another, or you want to write the communication between devices yourself. Several devices are not a reason, because the same function takes a batch that is **sharded**, that is, divided over them:

# %%
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

# %% [markdown]
# In the comments, `512@data` is an axis of length 512, sharded over mesh axis `data`.

# %% [markdown]
# ## Which map do I need?
#
# - **Each example can be computed without the others**
#   - On one device: `jit(vmap(f))`
#   - The intermediates of all do not fit in memory: `lax.map(f, xs, batch_size=n)`, which takes `n` examples at a time
#   - On several devices: the same `jit(vmap(f))`, of a sharded batch
#   - Loops in `f` stop at different times: `vmap` of sorted chunks, or `lax.map`, so that fewer examples wait
# - **An example needs the others**
#   - The result of the one before: [`lax.scan`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html#jax.lax.scan)
#   - A sum or mean over the batch, on one device: `vmap` with an `axis_name`
#   - The same on several devices: `jit(shard_map(f))`, in which you write the collectives, the operations that communicate
# - **The function does not fit on one device**
#   - Its weights are too large: divide them over the devices, too
# - **You have code with another map**
#   - [`pmap`](https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html#jax.pmap) still runs; new code uses `shard_map` or sharded arrays
#   - `xmap` was removed, for the same two; `pjit` has become [`jit`](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html#jax.jit)
#   - [`jax.smap`](https://docs.jax.dev/en/latest/_autosummary/jax.smap.html#jax.smap) is [`shard_map`](https://docs.jax.dev/en/latest/_autosummary/jax.shard_map.html#jax.shard_map) along one axis of the mesh
# - **It is slow**
#   - Even for few examples: one `jit`, outermost
#   - Slower than a loop: seven reasons
#   - Slower on eight devices than on one: overhead of each call
#   - It compiles at every call: find out why
#
# The hardware changes little in this list. On a CPU, [`lax.map`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.map.html#jax.lax.map) costs less than elsewhere; on a GPU or TPU, give [`vmap`](https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html#jax.vmap) as large a batch as fits.
# In several processes, use `jit` or `shard_map` of arrays that are divided over all of their devices; `pmap` has rules of its own for local and global arrays there.

# %% [markdown]
# ## Several devices: shard the batch, and keep the function
#
# With a sharded batch, each device computes the examples that it holds, with the program that it would run for them alone. For an `f` like `classify` the devices communicate nothing, so `shard_map` could save nothing.
# You need `shard_map` when you want to say yourself what is communicated, and when. Then you write what one device does with its shard:

# %%
batched = jax.vmap(classify, in_axes=(None, 0))

@jax.jit
@jax.shard_map(
    mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data")
)
def by_shard_map(params, images):    # images: one device's shard
    return batched(params, images)

logits = by_shard_map(everywhere, sharded)    # float32[512@data,10]

# %% [markdown]
# There are three cases in which the choice is made for you:
#
# - **`f` communicates although it need not.** If `f` has a [`while_loop`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html#jax.lax.while_loop), the devices of `jit(vmap(f))` communicate in each turn in order to stop together; a few other functions raise an error. A `shard_map` around the `vmap` lets each device stop by itself.
# - **`f` reduces over a named axis**, such as `lax.pmean(x, "data")`. If the batch is sharded over an Explicit mesh axis, which is what [`jax.make_mesh`](https://docs.jax.dev/en/latest/_autosummary/jax.make_mesh.html#jax.make_mesh) makes, `jit(vmap(f, axis_name="data"))` can raise a `ValueError` that mentions `Sharding spec` or `Length of sharding.spec`. Use `shard_map`; on an Auto axis it runs.
# - **The code exists, with `pmap`.** It is today a `jit(shard_map)` of arrays with one more axis, whose length is the number of devices:

# %%
by_pmap = jax.pmap(batched, axis_name="data", in_axes=(None, 0))

folded = sharded.reshape(8, 64, 64)      # float32[8@data,64,64]
logits = by_pmap(everywhere, folded)     # float32[8,64,10]: entry 3 on device 3

# %% [markdown]
# ## vmap is fast because it holds all examples; lax.map saves memory by taking turns
#
# `lax.map` is a loop inside the compiled program: a `lax.scan` that carries nothing from one example to the next. With `batch_size=64`, each turn is a `vmap` of 64 examples.

# %%
from jax import lax

@jax.jit
def one_by_one(params, images):
    return lax.map(lambda image: classify(params, image), images)

@jax.jit
def in_batches(params, images):
    return lax.map(lambda image: classify(params, image), images, batch_size=64)

# %% [markdown]
# **Guess**
#
# There are 8192 images, and the hidden layer of one has 64 numbers of four bytes, which makes 2,097,152 bytes in all. How many bytes does each of the three programs need for its intermediates?

# %%
many = jnp.ones((8192, 64))

for name, f in {
    "jit(vmap)": predict,
    "lax.map by 64": in_batches,
    "lax.map": one_by_one,
}.items():
    memory = f.lower(params, many).compile().memory_analysis()
    print(f"{name:20}{memory.temp_size_in_bytes:9,} bytes")

# %% [markdown]
# `vmap` holds the hidden layers of all images at once, and `lax.map` those of one image, or of 64. If the batch is sharded over eight devices, each holds an eighth of what `vmap` needs.
# The memory is what buys the speed. One image at a time, the device reads all weights again for each image; with all images together it reads them once, and multiplies two matrices. Three programs, and as a limit one product of two matrices with as many floating-point operations:

# %%
import statistics
import time

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

# %%
square = jnp.ones((340, 340))
product = jax.jit(jnp.matmul)
compare({
    "lax.map": lambda: one_by_one(params, many),
    "lax.map by 64": lambda: in_batches(params, many),
    "jit(vmap)": lambda: predict(params, many),
    "limit: one product": lambda: product(square, square),
})

# %% [markdown]
# All four use one device here. On a GPU or TPU the first row is worse: each turn of `lax.map` starts kernels of its own, which takes longer than a small `f`, so `vmap` can be hundreds of times faster. So when memory forces you to `lax.map`, give it as large a `batch_size` as fits.
#
# The results of these maps differ only by rounding, because `vmap` multiplies matrices where a loop multiplies a vector by a matrix.

# %% [markdown]
# ## With few examples, the time is the overhead of calls
#
# For eight images there is little to compute, and what you pay for is the number of calls from Python. The limit is one call that adds one to a number:

# %%
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

# %% [markdown]
# `vmap` without `jit` traces `classify` anew at every call, and then makes a call for each operation. A Python loop makes a call for each image.
# On eight devices one call has to start eight programs, which takes longer than the arithmetic that it saves. So for few examples use one device and few calls, and count on several devices only when each has enough to do.

# %% [markdown]
# ## A Python loop inside jit is unrolled
#
# A loop under `jit` makes only one call, but it costs something else. While JAX traces, Python runs the loop, and so `classify` is recorded once for each image. The program, and the time to compile it, grow with the batch:

# %%
def unrolled(params, images):
    return jnp.stack([classify(params, image) for image in images])

for f in [unrolled, batched]:
    of_8 = jax.make_jaxpr(f)(params, many[:8])
    of_64 = jax.make_jaxpr(f)(params, many[:64])
    print(len(of_8.eqns), "operations for 8 images,", len(of_64.eqns), "for 64")

# %% [markdown]
# All other maps on this page have the same operations for 64 images and for 8192, so their compile time does not depend on the batch, and is much the same for all of them. The loop under `jit` takes longest, by far, once there are more than a few images.
# JAX compiles each map once for each shape and sharding, so compile time matters most where shapes change at every call.

# %% [markdown]
# ## Why vmap can be slower than a loop
#
# | reason | what to do |
# | --- | --- |
# | `vmap` is not under `jit`: Python runs every operation | put `jit` outermost |
# | you timed the first call, or timed without `block_until_ready` | time it again |
# | [`lax.cond`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html#jax.lax.cond) computes both branches for all examples | `cond` on `any`, or `lax.map` |
# | `lax.while_loop` runs until the last example stops | sorted chunks |
# | a mapped index turns slices into gathers and scatters | rewrite the index |
# | each example has a convolution kernel of its own | one shared kernel, or `lax.map` |
# | intermediates are larger than the cache | `lax.map` with a batch size |
#
# **In short**
#
# - Write `f` for one example; start with `jit(vmap(f))`.
# - If memory runs out, use `lax.map(f, xs, batch_size=n)`.
# - On several devices, call the same `jit(vmap(f))` with a sharded batch; use `shard_map` to write collectives yourself.
# - For few examples, use one device and few calls.
