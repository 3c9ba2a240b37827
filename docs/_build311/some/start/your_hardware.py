# %%
# Which devices JAX uses: jax.devices(), and how to simulate eight devices on a CPU
# Verified on JAX 0.10.2: pip install jax==0.10.2
import warnings
from importlib.metadata import version

if version("jax") != "0.10.2":
    told = "verified on JAX 0.10.2, and this is " + version("jax")
    warnings.warn(told, stacklevel=1)

# %% [markdown]
# # Which devices JAX uses: jax.devices(), and how to simulate eight devices on a CPU
#
# You have a laptop, and a program that wants eight devices. JAX can make eight **simulated devices** of your one CPU: the program, its shapes and its results are then those of eight real devices. Its speed is not.
# So you can write and test a program for many GPUs on a machine that has none. Two lines below `import jax` are enough:

# %%
# A program of its own: it needs a Python in which JAX has not started.
# Save what follows as a file, and run that.
#
# import jax
#
# jax.config.update("jax_platforms", "cpu")      # leave a GPU or TPU aside
# jax.config.update("jax_num_cpu_devices", 8)    # count the CPU as eight devices
#
# print(jax.devices())

# %% [markdown]
# They have to be the first lines that touch JAX, because JAX counts its devices once, at its first operation.
# Without a GPU or TPU in the machine, the second line alone does it. It concerns CPU devices only, so it changes nothing where there are eight GPUs; most pages of this book have it in their first code for this reason.
#
# | you have | do this |
# | --- | --- |
# | a CPU | write the second line, or start the program with `JAX_NUM_CPU_DEVICES=8 python train.py` |
# | one GPU, or fewer than eight | write both lines, or make a smaller mesh |
# | eight GPUs or TPU devices, or more | write neither: `jax.make_mesh((8,), ("data",))` uses eight of them |
# | a GPU or TPU that JAX does not list | look up what JAX says |
#
# Each program on this page that chooses or counts devices ran in a new Python process. To try several of them in one notebook, restart the kernel before each.

# %% [markdown]
# ## jax.devices() lists what JAX uses, and the first one is the default
#
# If JAX can use a GPU or a TPU, `jax.devices()` lists these devices, otherwise the CPU. A CPU counts as one device, however many cores it has.
# New arrays lie on the first device of the list, and an operation runs where its arguments lie. So a program uses one GPU of eight until you place an array elsewhere. The method `devices()` of a result says where it was computed:

# %%
# A program of its own: it needs a Python in which JAX has not started.
# Save what follows as a file, and run that.
#
# import jax
# import jax.numpy as jnp
#
# y = 2 * jnp.ones(3)
#
# print(jax.device_count(), jax.default_backend(), jax.devices()[0].device_kind)
# print(y.devices())

# %% [markdown]
# A machine with two NVIDIA GPUs prints `2 gpu`, the name of the GPU and `{CudaDevice(id=0)}`.[^1] Its CPU is there as well, as `jax.devices("cpu")`.
#
# [^1]: This page is built without a GPU or a TPU. The build runs everything else; it finds the messages about missing hardware in JAX's source. What a machine with GPUs prints is as JAX's documentation and its users describe it.
#
# [`jax.device_put`](https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html#jax.device_put) copies an array to another device, and JAX then computes with the copy on that device. Here device 3 computes:

# %%
# A program of its own: it needs a Python in which JAX has not started.
# Save what follows as a file, and run that.
#
# import jax
# import jax.numpy as jnp
#
# jax.config.update("jax_num_cpu_devices", 8)
#
# x = jax.device_put(jnp.ones(3), jax.devices("cpu")[3])
# y = 2 * x
# print(y.devices(), y.sharding)

# %% [markdown]
# If the arguments of an operation were placed on two different devices, JAX does not choose between them, but raises an error. To use all devices at once, divide one array over them.

# %% [markdown]
# ## Guess: import jax first, then set a variable. Which one is still read?
#
# Two environment variables ask for eight CPU devices. Each of the next two programs sets one of them after the import, and before JAX's first operation.

# %%
# A program of its own: it needs a Python in which JAX has not started.
# Save what follows as a file, and run that.
#
# import os
# import jax
#
# os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
#
# print(len(jax.devices("cpu")))

# %%
# A program of its own: it needs a Python in which JAX has not started.
# Save what follows as a file, and run that.
#
# import os
# import jax
#
# os.environ["JAX_NUM_CPU_DEVICES"] = "8"
#
# print(len(jax.devices("cpu")))

# %% [markdown]
# <details><summary>The answer</summary>
#
# `XLA_FLAGS` is still read, because XLA reads its flags when the CPU backend starts. `JAX_NUM_CPU_DEVICES` is not, because JAX reads its own variables while you import it.
#
# </details>
#
# ## JAX counts its devices at its first operation, and never again
#
# If a setting for eight devices has no effect, it came too late. This is what happens, in order:
#
# 1. `import jax` reads the environment variables that begin with `JAX_`.
# 2. Your calls of `jax.config.update` change these settings.
# 3. The first operation that needs a device starts JAX's **backends**, the parts of JAX that drive each kind of device, and XLA, the compiler, reads `XLA_FLAGS`. Now the number of devices is fixed. Such an operation is `jax.devices()`, `jnp.zeros(3)` or `jax.random.key(0)`; a library that you import may contain one.
# 4. A setting that comes later is too late until the process ends.
#
# There are three settings for the same thing, and they differ in when JAX reads them:
#
# | setting | JAX reads it | if you set it later |
# | --- | --- | --- |
# | `jax.config.update("jax_num_cpu_devices", 8)` | at the first operation | `RuntimeError`: restart the kernel, or start JAX anew |
# | `JAX_NUM_CPU_DEVICES=8` in the environment | during `import jax` | JAX ignores it, without a message |
# | `XLA_FLAGS=--xla_force_host_platform_device_count=8` | at the first operation | JAX ignores it, without a message |
#
# Prefer the first one, because it is the only one that tells you when it is too late. It is also stronger: if `XLA_FLAGS` names another number, `jax_num_cpu_devices` wins.
# Set an environment variable in the shell, as in `JAX_NUM_CPU_DEVICES=8 python train.py`; in Python, set it before you import JAX:

# %%
# A program of its own: it needs a Python in which JAX has not started.
# Save what follows as a file, and run that.
#
# import os
#
# os.environ["JAX_PLATFORMS"] = "cpu"
# os.environ["JAX_NUM_CPU_DEVICES"] = "8"
#
# import jax
#
# print(jax.device_count())

# %% [markdown]
# `XLA_FLAGS` is the older way, which libraries such as NumPyro still use for you. The variable may hold other flags already, so append to it. If XLA does not know a flag, it ends your Python process.

# %% [markdown]
# ## Simulated devices share your cores: the same program, no speed
#
# Simulated devices are good for tests, because JAX does with them what it does with real ones: the same meshes, the same shapes on each device, the same collectives in your code, and results that agree up to rounding.
# They are not good for timing. All eight run on your one CPU, and even a single device lets a large operation use several cores. So eight simulated devices are rarely faster than one, and times measured on them say nothing about a GPU or TPU.
# The exception is work that by itself uses only one core, such as a long loop on each device.
#
# ## Fewer than eight GPUs: simulate eight, or use the ones you have
#
# A mesh, the grid of devices over which JAX divides arrays, needs as many devices as its shape says. With fewer, `jax.make_mesh((8,), ("data",))` raises *Number of devices 1 must be >= the product of mesh_shape*. You can do one of three things:
#
# - **To follow a page of this book**, simulate eight devices with both lines from above. Your GPUs stay unused.
# - **To use the GPUs that you have**, make a mesh of all of them: `jax.make_mesh((jax.device_count(),), ("data",))`. With one GPU this is a mesh of one device, and the program runs unless a shape in it assumes eight.
# - **To use both in one program**, keep the GPU as the default, and make the mesh of CPU devices:

# %%
# A program of its own: it needs a Python in which JAX has not started.
# Save what follows as a file, and run that.
#
# import jax
# import jax.numpy as jnp
# from jax import NamedSharding, P
#
# jax.config.update("jax_num_cpu_devices", 8)
#
# mesh = jax.make_mesh((8,), ("data",), devices=jax.devices("cpu"))
# x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("data")))
# print(x.sharding.spec, "over", len(x.devices()), "CPU devices")

# %% [markdown]
# On a machine with a GPU, JAX still creates an array on the GPU unless you place it on the mesh.

# %% [markdown]
# ## JAX sees only the CPU: what each message means
#
# If `jax.devices()` lists a CPU on a machine with a GPU or TPU, JAX has either not been installed for it or could not start it. In the first case, `pip install "jax[cuda13]"` (`cuda12` for older drivers) or `pip install "jax[tpu]"` is the cure, in the environment of the Python that you run.
# What JAX says tells which case it is. Set `JAX_PLATFORMS=cuda` or `JAX_PLATFORMS=tpu` to make it say something, because without this setting JAX may take the CPU silently.
#
# | you read | it means |
# | --- | --- |
# | nothing, and `jax.devices()` shows a CPU device | JAX found no accelerator. Older releases warned *No GPU/TPU found, falling back to CPU* |
# | `An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.` | JAX was installed without its CUDA support |
# | `A Google TPU may be present on this machine, but either a TPU-enabled jaxlib or libtpu is not installed. Falling back to cpu.` | `libtpu` is missing, or another process holds the TPU |
# | `Unable to initialize backend 'tpu'` | `JAX_PLATFORMS` names `tpu`, and `libtpu` or the chip is missing, or another process holds the chip |
# | `AssertionError` without a text | `JAX_PLATFORMS` is `cuda`, and JAX finds no NVIDIA GPU: the driver is missing, or the container was started without `--gpus` |
# | `Backend 'cuda' is not in the list of known backends` | `JAX_PLATFORMS` names `cuda`, and JAX's CUDA plugin is not installed |
# | `Unable to initialize backend 'rocm'` | `JAX_PLATFORMS` is `gpu`, which asks for every kind of GPU: write `cuda` |
# | `Unknown backend: 'gpu' requested` | you called `jax.devices("gpu")`, and JAX has no GPU |
#
# This page's build raised the messages that it could raise on a CPU, and found the others in JAX's source.

# %% [markdown]
# **In short**
#
# - `jax.devices()` lists what JAX uses; `y.devices()` says where an array lies, and `device_put` moves it.
# - For eight devices anywhere, set `jax_platforms` to `"cpu"` and `jax_num_cpu_devices` to 8, right after `import jax`.
# - Once JAX has been used, `jax_num_cpu_devices` raises, and JAX ignores environment variables and `jax_platforms`. Restart the kernel.
# - Simulated devices show what a program does, not how fast it is.
#
# GPU memory, platforms, a busy TPU and Colab are in devices in detail. Next, read NumPy to JAX: what changes in a program that comes from NumPy.
