"""Lower a training step for any number of chips, with the same work for each of them.

Arrays are sharded over three mesh axes, and the shape of the mesh decides what that
means: one long axis, `data`, `fsdp` or `model`, is data, FSDP or tensor parallelism.

Run it: `python -m examples.scale.weak_scaling`
"""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax import P, lax

from examples.train.transformer import attention, norm

ROWS = P(("data", "fsdp"))  # of the batch
SPECS = {
    "embed": P("model", "fsdp"),
    "qkv": P(None, "fsdp", None, "model"),
    "out": P(None, "model", "fsdp"),
    "up": P(None, "fsdp", "model"),
    "down": P(None, "model", "fsdp"),
}
SIZES = {"layers": 4, "width": 8192, "heads": 64, "vocab": 32768}
SIZES |= {"examples": 2, "length": 2048}  # on each chip
POD = "v5p:2x2x2", "v5p:4x4x4", "v5p:8x8x8", "v5p:16x16x16", "v5p:16x20x28"
TOPOLOGIES = {  # that each way is compiled for
    "lower": POD,
    "lower_fsdp": POD[:4],  # a width of 8,192 has no 8,960 shards
    "lower_data_and_fsdp": (POD[1], POD[4]),
    "lower_tensor": POD[:2],  # 64 heads
    "lower_data_and_tensor": (POD[1], "v5p:4x8x16", *POD[3:]),
}
EFFORT = "O0"  # the compiler's least: a quarter of the time
optimizer = optax.adam(1e-4)


def shapes(layers, width, vocab):
    """Return the shape of each parameter; layers are stacked on axis 0."""
    found = {"embed": (vocab, width), "qkv": (layers, width, 3, width)}
    found |= {"out": (layers, width, width), "up": (layers, width, 4 * width)}
    return found | {"down": (layers, 4 * width, width)}


def gathered(weight, spec):
    """Return a weight in bfloat16, all of it along `fsdp`, sharded along `model`."""
    names = (None if name == "fsdp" else name for name in spec)
    return jax.reshard(weight.astype(jnp.bfloat16), P(*names))


def loss(params, tokens, heads):
    """Return the mean loss of a batch, (): each layer is recomputed going back."""
    embed = gathered(params["embed"], SPECS["embed"])
    layers = {name: params[name] for name in SPECS if name != "embed"}

    @jax.checkpoint
    def block(x, layer):
        w = {name: gathered(layer[name], SPECS[name][1:]) for name in layer}
        qkv = jnp.einsum("bld,dne->nble", norm(x), w["qkv"])
        q, k, v = qkv.reshape(*qkv.shape[:3], heads, -1)
        seen = attention(q, k, v).reshape(x.shape)
        x = x + jnp.matmul(seen, w["out"], out_sharding=ROWS)
        up = jax.nn.relu(norm(x) @ w["up"])
        return x + jnp.matmul(up, w["down"], out_sharding=ROWS), None

    words = jax.nn.one_hot(tokens, len(params["embed"]), dtype=jnp.bfloat16)
    words = jax.reshard(words, P(*ROWS, None, "model"))
    x = jnp.matmul(words[:, :-1], embed, out_sharding=ROWS)
    x, _ = lax.scan(block, x, layers)
    scores = jax.nn.log_softmax((norm(x) @ embed.T).astype(jnp.float32))
    return -(scores * words[:, 1:]).sum(axis=-1).mean()


def train_step(params, state, tokens, heads):
    """Return the next parameters and optimizer state, and the loss before the step."""
    value, grads = jax.value_and_grad(loss)(params, tokens, heads)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


def lower(mesh, fsdp=1, model=1, sizes=SIZES):
    """Lower a step for the devices of `mesh`; data-parallel, unless axes are given."""
    n, devices, sizes = mesh.size, [*mesh.devices.flat], dict(sizes)
    batch = sizes.pop("examples") * n, sizes.pop("length") + 1
    step = jax.jit(partial(train_step, heads=sizes.pop("heads")), donate_argnums=(0, 1))
    shape, axes = (n // fsdp // model, fsdp, model), ("data", "fsdp", "model")
    with jax.set_mesh(jax.make_mesh(shape, axes, devices=devices)):
        array = jax.ShapeDtypeStruct
        named = shapes(**sizes).items()
        params = {k: array(s, jnp.float32, sharding=SPECS[k]) for k, s in named}
        state = jax.eval_shape(optimizer.init, params)
        return step.lower(params, state, array(batch, jnp.int32, sharding=ROWS))


def lower_fsdp(mesh):
    """Lower it with every parameter sharded over all devices."""
    return lower(mesh, fsdp=mesh.size)


def lower_data_and_fsdp(mesh):
    """Lower it with every parameter sharded over 16 devices, and replicated."""
    return lower(mesh, fsdp=16)


def lower_tensor(mesh):
    """Lower it with every layer divided among all devices."""
    return lower(mesh, model=mesh.size)


def lower_data_and_tensor(mesh):
    """Lower it with every layer divided among 16 devices."""
    return lower(mesh, model=16)


def main():
    """Print the bytes that each of eight devices holds of a small network.

    >>> main()
    data: 2,408,588 bytes
    fsdp: 301,196 bytes
    model: 302,148 bytes
    """
    mesh, axes = jax.make_mesh((8,), ("rows",)), ("data", "fsdp", "model")
    small = SIZES | {"width": 64, "heads": 8, "vocab": 64, "length": 16}
    for name in axes:
        given = {} if name == "data" else {name: 8}
        memory = lower(mesh, **given, sizes=small).compile().memory_analysis()
        print(f"{name}: {memory.argument_size_in_bytes:,} bytes")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
