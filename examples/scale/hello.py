"""Join the other processes, and say what this one sees.

Run it: `python launch.py 2 hello.py`
"""

import jax


def main():
    """Say which process this is, and whose devices the mesh has."""
    jax.distributed.initialize()  # before anything else that JAX does
    mesh = jax.make_mesh((jax.device_count(),), ("data",))

    print("process", jax.process_index(), "of", jax.process_count())
    print("own devices:", [device.id for device in jax.local_devices()])
    if jax.process_index() == 0:
        owners = [device.process_index for device in mesh.devices.flat]
        print("the mesh has devices of the processes", owners)


if __name__ == "__main__":
    main()
