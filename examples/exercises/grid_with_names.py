"""Arrange the devices so that one axis of the mesh never leaves a machine.

The list of eight devices alternates between two machines: the first, the third and so
on are in one, the others in the other. Return a mesh of them, two along "data" and four
along "model", with Explicit axes, in which the devices along "model" share a machine.
"""

import jax
import numpy as np
from jax.sharding import AxisType, Mesh

EXPLICIT = (AxisType.Explicit,) * 2


def solution(devices):
    """Return a mesh with a machine in each row: the list by columns."""
    machines = np.array(devices).reshape(4, 2).T
    explicit = AxisType.Explicit, AxisType.Explicit
    return Mesh(machines, ("data", "model"), axis_types=explicit)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(devices): a list of eight devices to a jax.sharding.Mesh.
    """
    devices = jax.devices()
    for given in (devices, devices[::2] + devices[1::2]):
        mesh = make(given)
        assert isinstance(mesh, Mesh), f"a jax.sharding.Mesh is due, not {type(mesh)}"
        assert dict(mesh.shape) == {"data": 2, "model": 4}, (
            f"two devices along data and four along model; yours has {dict(mesh.shape)}"
        )
        assert mesh.axis_types == EXPLICIT, (
            f"both axes are to be Explicit; yours are {mesh.axis_types}"
        )
        assert set(mesh.devices.flat) == set(given), "each device has one place"
        axis = mesh.axis_names.index("model")
        for line in np.moveaxis(mesh.devices, axis, -1):
            places = [given.index(device) for device in line]
            assert len({place % 2 for place in places}) == 1, (
                f"devices {places} of the list are along model, in both machines"
            )


def mistake_fills_rows_in_order(devices):
    """Take it that neighbors in the list share a machine."""
    return Mesh(np.array(devices).reshape(2, 4), ("data", "model"), EXPLICIT)


def mistake_leaves_it_to_make_mesh(devices):
    """Take it that `make_mesh` knows which device is in which machine."""
    return jax.make_mesh((2, 4), ("data", "model"), devices=devices)


def mistake_swaps_the_names(devices):
    """Put a machine in each column, and call the columns "data"."""
    return Mesh(np.array(devices).reshape(4, 2), ("data", "model"), EXPLICIT)


def mistake_forgets_the_types(devices):
    """Take it that `Mesh` makes Explicit axes, as `make_mesh` does."""
    return Mesh(np.array(devices).reshape(4, 2).T, ("data", "model"))


def mistake_lists_devices_itself(devices):
    """Take it that the list is that of `jax.devices()`, in that order."""
    found = sorted(devices, key=lambda device: device.id)
    return Mesh(np.array(found).reshape(4, 2).T, ("data", "model"), EXPLICIT)
