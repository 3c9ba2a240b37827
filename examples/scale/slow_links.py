"""Lay the axes of a mesh over hosts: "data" across them, "model" inside each.

Run it: `python launch.py 2 slow_links.py`
"""

import jax
from jax.experimental.mesh_utils import create_hybrid_device_mesh


def main():
    """Print the process of each device, one line for each place along "data"."""
    jax.distributed.initialize()
    devices = create_hybrid_device_mesh(
        mesh_shape=(1, 4),  # inside a host: "data", "model"
        dcn_mesh_shape=(2, 1),  # across hosts, over the slow network
        process_is_granule=True,
    )
    explicit = (jax.sharding.AxisType.Explicit,) * 2
    mesh = jax.sharding.Mesh(devices, ("data", "model"), axis_types=explicit)
    if jax.process_index() == 0:
        for line in mesh.devices:
            print([device.process_index for device in line])


if __name__ == "__main__":
    main()
