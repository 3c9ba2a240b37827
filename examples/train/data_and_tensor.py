"""Train the transformer on a mesh of two axes: batches over one, layers over the other.

The step is that of `tensor_parallel`; only the spec of the batch is new.

Run it: `python -m examples.train.data_and_tensor`
"""

from math import gcd

import jax
from jax import P

from examples.train.data_parallel import lowered, retrain
from examples.train.progress import plot, show
from examples.train.tensor_parallel import SPECS, tensor_step


def lower(mesh):
    """Lower the step for a mesh of any size, as groups of four that share a model."""
    shape, axes = (mesh.size // 4, 4), ("data", "model")
    step = jax.jit(tensor_step(P("data")), donate_argnums=(0, 1))
    with jax.set_mesh(jax.make_mesh(shape, axes, devices=[*mesh.devices.flat])):
        return lowered(step, 8 * mesh.size, SPECS)


def main(step=tensor_step):
    """Train on all devices, in groups of up to four; return the loss of each step.

    >>> from examples.train.tensor_parallel import mapped_step
    >>> with jax.default_matmul_precision("highest"):
    ...     losses, mapped_losses = main(), main(mapped_step)  # doctest: +ELLIPSIS
    step  0: loss 3.9...
    step  5: loss 2.6...
    step 10: loss 1.6...
    step 15: loss 1.0...
    step  0: loss 3.9...
    step  5: loss 2.6...
    step 10: loss 1.6...
    step 15: loss 1.0...
    """
    n = jax.device_count()
    model = gcd(n, 4)
    step = jax.jit(step(P("data")), donate_argnums=(0, 1))
    with jax.set_mesh(jax.make_mesh((n // model, model), ("data", "model"))):
        return show(retrain(16, step, SPECS))


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    plot(main())
