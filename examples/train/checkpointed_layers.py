"""Gather the weights of layers again in the backward pass: in a loop, and in a scan.

`jax.checkpoint` frees a gathered weight after its layer. Whether that saves memory
depends on the compiler, which may gather a weight once all the same; lowered for other
hardware, with and without `checkpoint`.

Run it: `python -m examples.train.checkpointed_layers`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import NamedSharding, P, lax

LAYERS, WIDTH, TOKENS = 8, 4096, 8192  # the tokens of each device


def layer(x, w):
    """Return the next activations, from all shards of a weight."""
    return jnp.tanh(x @ jax.reshard(w, P())), None


def in_a_loop(weights, x, layer=layer):
    """Return a loss of all layers, which a Python loop calls: ()."""
    for w in weights:
        x, _ = layer(x, w)
    return x.astype(jnp.float32).mean()


def in_a_scan(weights, x, layer=layer):
    """Return the loss of all layers, which a scan calls: ()."""
    x, _ = lax.scan(layer, x, weights)
    return x.astype(jnp.float32).mean()


def gradient(loss, checkpoint):
    """Return the gradient with respect to the weights, with or without `checkpoint`."""
    own = jax.checkpoint(layer) if checkpoint else layer
    return jax.jit(jax.grad(lambda weights, x: loss(weights, x, own)))


def lowered(mesh, loss, checkpoint):
    """Lower a gradient for a mesh: every weight sharded, TOKENS on each device."""
    mesh = jax.make_mesh((mesh.size,), ("data",), devices=[*mesh.devices.flat])

    def shaped(shape, spec):
        return jax.ShapeDtypeStruct(
            shape, jnp.bfloat16, sharding=NamedSharding(mesh, spec)
        )

    weights = shaped((LAYERS, WIDTH, WIDTH), P(None, "data"))
    x = shaped((TOKENS * mesh.size, WIDTH), P("data"))
    with jax.set_mesh(mesh):
        return gradient(loss, checkpoint).lower(weights, x)


def lower(mesh):
    """Lower the layers in a Python loop."""
    return lowered(mesh, in_a_loop, False)


def lower_checkpoint(mesh):
    """Lower the layers in a Python loop, each inside `jax.checkpoint`."""
    return lowered(mesh, in_a_loop, True)


def lower_scan(mesh):
    """Lower the layers in a scan."""
    return lowered(mesh, in_a_scan, False)


def lower_scan_checkpoint(mesh):
    """Lower the layers in a scan, each inside `jax.checkpoint`."""
    return lowered(mesh, in_a_scan, True)


def main():
    """Compare the four gradients with that of one device.

    >>> main()
    in_a_loop: True
    in_a_loop, checkpoint: True
    in_a_scan: True
    in_a_scan, checkpoint: True
    """
    draw = np.random.default_rng(0)
    weights = draw.normal(size=(3, 16, 16)).astype(np.float32)
    x = draw.normal(size=(64, 16)).astype(np.float32)

    def expected_loss(weights):
        hidden = x
        for w in weights:
            hidden = jnp.tanh(hidden @ w)
        return hidden.mean()

    expected = jax.grad(expected_loss)(weights)
    with jax.set_mesh(jax.make_mesh((jax.device_count(),), ("data",))):
        own = jax.device_put(weights, P(None, "data")), jax.device_put(x, P("data"))
        for loss in in_a_loop, in_a_scan:
            for checkpoint in False, True:
                found = gradient(loss, checkpoint)(*own)
                right = abs(found - expected).max() < 0.05 * abs(expected).max()
                name = loss.__name__ + ", checkpoint" * checkpoint
                print(f"{name}: {right}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
