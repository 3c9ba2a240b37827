"""Ask the compiler of TPUs, or of GPUs, that are not here what a function needs.

Run it: `pip install "jax[tpu]"`, on Linux, then
`python -m examples.scale.plan v5e:2x4 v5p:2x2x2`; or, with `jax[cuda13]`,
`JAX_PLATFORMS=cpu python -m examples.scale.plan examples/scale/h100.txtpb`, a text that
describes a GPU. Without a name it compiles for eight devices that are here.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import P
from jax.sharding import NamedSharding


def tpus(topology):
    """Return a mesh, "data", of TPUs that are not here, such as "v5e:2x4"."""
    import os

    from jax.experimental.topologies import get_topology_desc

    os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost"}
    os.environ["TPU_ACCELERATOR_TYPE"] = "v5e-8"  # any; it keeps the library calm
    how = {"platform": "tpu", "topology_name": topology}
    if topology.startswith("v4"):  # one device for both cores of a chip
        how["chip_config_name"] = "megacore"
    devices = get_topology_desc(**how).devices
    return jax.make_mesh((len(devices),), ("data",), devices=devices)


def gpus(description, count=8):
    """Return a mesh, "data", of GPUs that are not here, as a text describes one.

    It needs `pip install "jax[cuda13]"`, and a Python that was started with
    JAX_PLATFORMS=cpu; examples/scale/h100.txtpb is such a text.
    """
    import os

    from jax.experimental.topologies import get_topology_desc

    flags = os.environ.get("XLA_FLAGS", "")  # there is no GPU to time kernels on
    os.environ["XLA_FLAGS"] = f"{flags} --xla_gpu_autotune_level=0"
    topology = {"topology_name": "described", "topology": f"1x1x{count}"}
    found = get_topology_desc(platform="cuda", target_config=description, **topology)
    return jax.make_mesh((count,), ("data",), devices=found.devices)


def needs(lowered):
    """Return the bytes that each device needs, or the compiler's refusal."""
    try:
        memory = lowered.compile().memory_analysis()
    except jax.errors.JaxRuntimeError as error:
        return str(error).splitlines()[0]
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    return held + memory.temp_size_in_bytes - memory.alias_size_in_bytes


def logits(mesh):
    """Lower a product for a mesh, "data", from the shapes of what it takes."""
    rows, all_of_it = (NamedSharding(mesh, spec) for spec in (P("data"), P()))
    x = jax.ShapeDtypeStruct((64 * mesh.size, 4096), jnp.bfloat16, sharding=rows)
    w = jax.ShapeDtypeStruct((4096, 32768), jnp.bfloat16, sharding=all_of_it)
    return jax.jit(jnp.matmul).lower(x, w)


def main(names=()):
    """Compile `logits` for each topology or description, or for devices that are here.

    >>> main()
    here: fits True
    """
    if not names:
        meshes = {"here": jax.make_mesh((8,), ("data",))}
    else:
        paths = [Path(name) for name in names]
        found = [gpus(p.read_text()) if p.suffix else tpus(str(p)) for p in paths]
        meshes = dict(zip(names, found, strict=True))
    for name, mesh in meshes.items():
        print(f"{name}: fits {isinstance(needs(logits(mesh)), int)}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main(sys.argv[1:])
