"""Name the axes of a grid so that one of them never leaves a machine.

The devices come machine by machine: the first four are in one machine, the last four in
another. Return a mesh of them, `{"rows": 4, "inner": 2}` with Explicit axes, in which
the devices along "rows" are always in one machine.
"""

import jax
import numpy as np
from jax.sharding import AxisType, Mesh

from examples.mesh.grid_with_names import lines

EXPLICIT = (AxisType.Explicit,) * 2


def solution(devices):
    """Return a mesh whose lines along "rows" are the machines: names, not places."""
    machines = np.array(devices).reshape(2, 4)
    return Mesh(machines, ("inner", "rows"), axis_types=EXPLICIT)


def check(make):
    """Raise AssertionError, with what to look at, unless `make` is right.

    make(devices): a list of eight devices to a jax.sharding.Mesh.
    """
    devices = jax.devices()
    for given in (devices, devices[::2] + devices[1::2]):
        mesh = make(given)
        assert isinstance(mesh, Mesh), f"a jax.sharding.Mesh is due, not {type(mesh)}"
        assert dict(mesh.shape) == {"rows": 4, "inner": 2}, (
            f"four devices along rows and two along inner; yours has {dict(mesh.shape)}"
        )
        assert mesh.axis_types == EXPLICIT, (
            f"both axes are to be Explicit; yours are {mesh.axis_types}"
        )
        assert set(mesh.devices.flat) == set(given), "each device has one place"
        for line in lines(mesh, "rows"):
            places = [given.index(device) for device in line]
            machines = {place // 4 for place in places}
            assert len(machines) == 1, (
                f"devices {places} of the list lie along rows, in both machines"
            )


def mistake_takes_rows_first(devices):
    """Write the sizes in the order they are asked for, and fill the grid in order."""
    return Mesh(np.array(devices).reshape(4, 2), ("rows", "inner"), EXPLICIT)


def mistake_calls_machines_rows(devices):
    """Make a row of each machine, and call the axis that counts them "rows"."""
    return Mesh(np.array(devices).reshape(2, 4), ("rows", "inner"), EXPLICIT)


def mistake_forgets_the_types(devices):
    """Take it that `Mesh` makes Explicit axes, as `make_mesh` does."""
    return Mesh(np.array(devices).reshape(2, 4), ("inner", "rows"))


def mistake_lists_devices_itself(devices):
    """Take it that the machines are those of `jax.devices()`, in that order."""
    found = sorted(devices, key=lambda device: device.id)
    return Mesh(np.array(found).reshape(2, 4), ("inner", "rows"), EXPLICIT)
