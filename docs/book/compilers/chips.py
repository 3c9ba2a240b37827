"""The hardware that programs are compiled for, and how a compiler is told of it.

No figure about a chip is typed where its compiler can be asked: what a TPU has left for
a program is read from the message of one that cannot fit. A GPU's description is what
its maker publishes, in the form that XLA reads.

JAX is imported late: what steers a compiler is read when JAX starts.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jax.sharding import Mesh

# What steers the compilers; set before JAX starts, or it has no effect.
TPU = {
    "JAX_PLATFORMS": "cpu",  # there is none here; only its compiler is asked
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5e-8",  # of any kind; without it the library complains
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_STDERR_LOG_LEVEL": "3",
}
GPU = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_gpu_autotune_level=0"}
DESCRIPTION = Path(__file__).parents[3] / "examples/scale/h100.txtpb"
UNITS = {"M": 2**20, "G": 2**30}


@dataclass(frozen=True)
class Chip:
    """Some devices of one kind: `name` is that of a topology as its compiler reads it.

    `says` is for readers; a device is what JAX calls one, a chip or a core of it.
    `cores` is how the cores of a chip are used, where its topology can be had in more
    than one way.
    """

    name: str
    says: str
    devices: int
    cores: str | None = None

    @property
    def is_tpu(self) -> bool:
        """Whether the compiler is that for TPUs."""
        return self.name != H100.name

    def mesh(self) -> Mesh:
        """Return a one-axis mesh, "rows", of these devices, none of which is here.

        They stand in the order in which `jax.make_mesh` puts real ones, so that
        neighbors in the mesh are neighbors among the chips.
        """
        import jax
        from jax.experimental.topologies import get_topology_desc

        if self.is_tpu:
            os.environ.update({k: v for k, v in TPU.items() if k.startswith("TPU_")})
            how = {"chip_config_name": self.cores} if self.cores else {}
            found = get_topology_desc(platform="tpu", topology_name=self.name, **how)
        else:
            os.environ["XLA_FLAGS"] = GPU["XLA_FLAGS"]
            text = DESCRIPTION.read_text(encoding="utf-8")
            shape = {"topology_name": "described", "topology": f"1x1x{self.devices}"}
            found = get_topology_desc(platform="cuda", target_config=text, **shape)
        return jax.make_mesh((self.devices,), ("rows",), devices=found.devices)

    def memory(self, mesh: Mesh) -> int:
        """Return the bytes that a program may use on one device of `mesh`."""
        if not self.is_tpu:
            text = DESCRIPTION.read_text(encoding="utf-8")
            return int(re.findall(r"device_memory_size: (\d+)", text)[0])
        import jax
        import jax.numpy as jnp

        rows = jax.NamedSharding(mesh, jax.P("rows"))
        shape = (2**18 * mesh.size, 2**20)  # a TiB on each device
        x = jax.ShapeDtypeStruct(shape, jnp.float32, sharding=rows)
        try:
            jax.jit(lambda x: x + 1).lower(x).compile()
        except jax.errors.JaxRuntimeError as error:
            if match := re.search(r"available HBM \(([\d.]+)([MG])\)", str(error)):
                return round(float(match[1]) * UNITS[match[2]])
            raise
        raise ValueError(f"a TiB fits on one device of {self.name}, says its compiler")


H100 = Chip("h100:1x1x8", "8 H100", 8)
EIGHT = (
    Chip("v3:2x2", "TPU v3, 4 chips of 2 cores", 8),
    Chip("v4:2x2x2", "TPU v4, 8 chips", 8, cores="megacore"),
    Chip("v5e:2x4", "TPU v5e, 8 chips", 8),
    Chip("v5p:2x2x2", "TPU v5p, 8 chips", 8),
    Chip("v6e:2x4", "TPU v6e, 8 chips", 8),
    Chip("tpu7x:2x2x1", "TPU7x, 4 chips of 2 cores", 8),
)
LARGE = (
    Chip("v5e:16x16", "TPU v5e, 256 chips", 256),
    Chip("v6e:16x16", "TPU v6e, 256 chips", 256),
    Chip("v5p:8x8x8", "TPU v5p, 512 chips", 512),
    Chip("v5p:16x20x28", "TPU v5p, 8,960 chips", 8960),
)
MORE = (  # for programs that name them
    Chip("v3:4x4", "TPU v3, 16 chips of 2 cores", 32),
    Chip("v4:4x4x4", "TPU v4, 64 chips", 64, cores="megacore"),
    Chip("v5e:8x16", "TPU v5e, 128 chips", 128),
    Chip("v5p:2x2x4", "TPU v5p, 16 chips", 16),
    Chip("v5p:4x4x4", "TPU v5p, 64 chips", 64),
    Chip("v5p:4x8x16", "TPU v5p, 512 chips as 4 x 8 x 16", 512),
    Chip("v5p:16x16x16", "TPU v5p, 4,096 chips", 4096),
    Chip("tpu7x:4x4x4", "TPU7x, 64 chips of 2 cores", 128),
)
CHIPS = {chip.name: chip for chip in (*EIGHT, *LARGE, *MORE, H100)}
