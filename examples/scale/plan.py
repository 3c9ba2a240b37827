"""Ask the compiler of TPUs, or of GPUs, that are not here what your function needs.

Run it: `pip install "jax[tpu]"`, on Linux, then
`python -m examples.scale.plan v5e:2x4 v5p:2x2x2`; or, with `jax[cuda13]`,
`JAX_PLATFORMS=cpu python -m examples.scale.plan examples/scale/h100.txtpb`, a text that
describes a GPU. Without a name it compiles for eight devices that are here.
"""

import os
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType, Mesh, NamedSharding


def yours(rows):
    """Stand here for your own function, of (n, 4096)."""
    return jax.nn.relu(rows) @ jnp.ones((4096, 1024))


def plan(topology):
    """Return the bytes of a device that `yours` needs, on 64 rows for each device."""
    return fits(for_shapes(tpus(topology)))


def for_shapes(mesh):
    """Lower `yours` for a mesh, from the shape and the sharding of what it takes."""
    rows = NamedSharding(mesh, P("rows"))
    x = jax.ShapeDtypeStruct((64 * mesh.size, 4096), jnp.float32, sharding=rows)
    return jax.jit(yours).lower(x)


def tpus(topology):
    """Return a mesh, "rows", of TPUs that are not here, such as "v5e:2x4"."""
    from jax.experimental.topologies import get_topology_desc

    os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost"}
    os.environ["TPU_ACCELERATOR_TYPE"] = "v5e-8"  # any; it keeps the library calm
    found = get_topology_desc(platform="tpu", topology_name=topology).devices
    return Mesh(np.array(found), ("rows",), axis_types=(AxisType.Explicit,))


def gpus(description, count=8):
    """Return a mesh, "rows", of GPUs that are not here, as a text describes one.

    It needs `pip install "jax[cuda13]"`, and a Python that was started with
    JAX_PLATFORMS=cpu; examples/scale/h100.txtpb is such a text.
    """
    from jax.experimental.topologies import get_topology_desc

    os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"  # there is nothing to time
    topology = {"topology_name": "described", "topology": f"1x1x{count}"}
    found = get_topology_desc(platform="cuda", target_config=description, **topology)
    return Mesh(np.array(found.devices), ("rows",), axis_types=(AxisType.Explicit,))


def fits(lowered):
    """Return the bytes that each device needs, or the compiler's refusal."""
    try:
        memory = lowered.compile().memory_analysis()
    except jax.errors.JaxRuntimeError as error:
        return str(error).splitlines()[0]
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes
    return held + memory.temp_size_in_bytes


def meshes(names=()):
    """Return a mesh for each topology, or each description of a GPU; else one here."""
    if names:
        paths = map(Path, names)
        found = [gpus(p.read_text()) if p.suffix else tpus(str(p)) for p in paths]
        return dict(zip(names, found, strict=True))
    return {"here": jax.make_mesh((8,), ("rows",))}


def main(names=()):
    """Compile `yours` for each topology, or for eight devices that are here.

    >>> main()
    here: fits True
    """
    for name, mesh in meshes(names).items():
        needed = fits(for_shapes(mesh))
        print(f"{name}: fits {isinstance(needed, int)}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main(sys.argv[1:])
