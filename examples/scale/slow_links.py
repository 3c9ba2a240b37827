"""Lay the axes of a mesh over slices: "data" across them, "model" inside each.

Run it: `python launch.py 2 slow_links.py`, or with 8 processes, each with one device
"""

import jax
from jax.experimental.mesh_utils import create_hybrid_device_mesh
from jax.sharding import AxisType, Mesh


def mesh_of(devices):
    """Return a mesh of two by four devices, in which "data" crosses the slow links."""
    names = "data", "model"
    slices = {getattr(device, "slice_index", 0) for device in devices}
    if len(slices) == 1:  # fast links join all devices, or one machine simulates them
        return jax.make_mesh((2, 4), names, devices=devices)
    grid = create_hybrid_device_mesh(
        mesh_shape=(1, 4),  # inside a slice: "data", "model"
        dcn_mesh_shape=(2, 1),  # across slices, over the slow links
        devices=devices,
    )
    return Mesh(grid, names, axis_types=(AxisType.Explicit,) * 2)


def main():
    """Print the process of each device, one line for each place along "data"."""
    jax.distributed.initialize()
    mesh = mesh_of(jax.devices())
    if jax.process_index() == 0:
        for line in mesh.devices:
            print([device.process_index for device in line])


if __name__ == "__main__":
    main()
