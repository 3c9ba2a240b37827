"""Train the transformer on a mesh of two axes: batches over one, layers over the other.

The step is that of `tensor_parallel`; only the spec of the batch is new.

Run it: `python -m examples.train.data_and_tensor`
"""

import jax
from jax import P

from examples.train.data_parallel import full_products, lowered, report, retrain
from examples.train.tensor_parallel import SPECS, tensor_step
from examples.train.transformer import train


def lower(mesh):
    """Lower the step for a mesh of any size, as groups of four that share a model."""
    shape, axes = (mesh.size // 4, 4), ("data", "model")
    rows, devices = P("data"), [*mesh.devices.flat]
    with jax.set_mesh(jax.make_mesh(shape, axes, devices=devices)):
        return lowered(tensor_step(rows), 8 * mesh.size, SPECS, rows)


def main():
    """Train on two groups of four devices, and compare with one device.

    >>> main()
    step  0: loss 3.98
    step  5: loss 2.62
    step 10: loss 1.63
    step 15: loss 1.03
    as on one device: True
    """
    rows, mesh = P("data"), jax.make_mesh((2, 4), ("data", "model"))
    with full_products(), jax.set_mesh(mesh):
        alone = train(16)
        found = retrain(16, tensor_step(rows), SPECS, rows)
    report(found, alone, 1e-3)


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
