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
    print("The check passes.")


def mistake_fills_rows_in_order(devices):
    """You filled the rows in list order, but the list alternates between machines."""
    return Mesh(np.array(devices).reshape(2, 4), ("data", "model"), EXPLICIT)


def mistake_leaves_it_to_make_mesh(devices):
    """You used `make_mesh`, which does not know which device is in which machine."""
    return jax.make_mesh((2, 4), ("data", "model"), devices=devices)


def mistake_swaps_the_names(devices):
    """You made a mesh of 4 by 2, with a machine along `data` instead of `model`."""
    return Mesh(np.array(devices).reshape(4, 2), ("data", "model"), EXPLICIT)


def mistake_forgets_the_types(devices):
    """You left out `axis_types`, and `Mesh` then makes Auto axes."""
    return Mesh(np.array(devices).reshape(4, 2).T, ("data", "model"))


def mistake_lists_devices_itself(devices):
    """You sorted the devices by id, but their order in the list tells the machine."""
    found = sorted(devices, key=lambda device: device.id)
    return Mesh(np.array(found).reshape(4, 2).T, ("data", "model"), EXPLICIT)
