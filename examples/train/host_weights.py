"""Keep the weights of all layers on the hosts, and bring one layer in at a time.

With a barrier behind the copy of each device's shard, a layer is gathered on the
devices. Without it, a compiler may gather the layer on the hosts, before the copies.

Run it: `python -m examples.train.host_weights`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

LAYERS, WIDTH, ROWS = 8, 2048, 512
CHIPS = "v5e:2x4", "v5p:2x2x2", "v6e:2x4", "tpu7x:2x2x1"
WAYS = "lower", "lower_plain", "lower_gradient", "lower_plain_gradient"
TOPOLOGIES = dict.fromkeys(WAYS, CHIPS)  # that each way is compiled for


def layer(x, w, barrier):
    """Return the activations after a layer: (rows, WIDTH); `w` is on the host."""
    w = jax.device_put(w, jax.memory.Space.Device)
    if barrier:
        w = lax.optimization_barrier(w)
    return jax.nn.relu(x @ jax.reshard(w, P())), None


def forward(layers, x, barrier=True):
    """Return the activations after all layers."""
    return lax.scan(partial(layer, barrier=barrier), x, layers)[0]


def gradient(layers, x, barrier=True):
    """Return the gradient of a loss, on the host as `layers` is."""
    one = jax.checkpoint(partial(layer, barrier=barrier))

    def loss(layers):
        return (lax.scan(one, x, layers)[0].astype(jnp.float32) ** 2).mean()

    return jax.grad(loss)(layers)


def lowered(function, mesh):
    """Lower a function of layers and rows for a mesh: ROWS rows on each device."""
    mesh = jax.make_mesh((mesh.size,), ("data",), devices=[*mesh.devices.flat])

    def shaped(shape, spec, kind="device"):
        sharding = jax.NamedSharding(mesh, spec, memory_kind=kind)
        return jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=sharding)

    stack = shaped((LAYERS, WIDTH, WIDTH), P(None, "data"), "pinned_host")
    with jax.set_mesh(mesh):
        x = shaped((ROWS * mesh.size, WIDTH), P("data"))
        return jax.jit(function).lower(stack, x)


def lower(mesh):
    """Lower the forward pass that gathers on the devices."""
    return lowered(forward, mesh)


def lower_plain(mesh):
    """Lower the forward pass that leaves to the compiler where it gathers."""
    return lowered(partial(forward, barrier=False), mesh)


def lower_gradient(mesh):
    """Lower the gradient that gathers on the devices."""
    return lowered(gradient, mesh)


def lower_plain_gradient(mesh):
    """Lower the gradient that leaves to the compiler where it gathers."""
    return lowered(partial(gradient, barrier=False), mesh)


def main():
    """Compare both ways with layers that are on the devices.

    >>> main()
    as on the devices: True
    """
    draw = np.random.default_rng(0)
    near = draw.normal(size=(4, 16, 16)).astype(np.float32) / 4
    x = draw.normal(size=(64, 16)).astype(np.float32)
    with jax.set_mesh(jax.make_mesh((jax.device_count(),), ("data",))):
        x = jax.device_put(x, P("data"))
        near = jax.device_put(near, P(None, "data"))
        far = jax.device_put(near, jax.memory.Space.Host)
        expected = jax.jit(gradient)(near, x)
        ways = [jax.jit(partial(gradient, barrier=b))(far, x) for b in (True, False)]
    right = all(np.allclose(way, expected, rtol=1e-2, atol=1e-4) for way in ways)
    print(f"as on the devices: {right}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
