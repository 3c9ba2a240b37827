"""Save often on the hosts' own disks, and seldom on the shared one.

Run it: `python launch.py 2 local_saves.py`, and then once more.
"""

import logging
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import orbax.checkpoint as ocp
from absl import flags
from jax import P
from orbax.checkpoint.experimental.emergency import checkpoint_manager as emergency

OPTIONS = emergency.CheckpointManagerOptions(
    local=emergency.LocalCheckpointOptions(save_interval_steps=2, max_to_keep=1),
    persistent=emergency.PersistentCheckpointOptions(save_interval_steps=5),
    replica_axis_index=0,  # the axis of the mesh along which all have the same state
)


def main():
    """Go on from the newest checkpoint, and train to step 8."""
    logging.getLogger("absl").setLevel("ERROR")
    jax.distributed.initialize()
    flags.FLAGS(sys.argv[:1])  # Orbax's restore asks for one of its flags
    ocp.multihost.initialize_runtime_to_distributed_ids()
    ocp.multihost.initialize_distributed_to_device_ids()
    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, 4), ("replica", "data"), axis_types=auto)
    rows = jax.NamedSharding(mesh, P("data"))
    state = {"w": jax.jit(lambda: jnp.zeros(8), out_shardings=rows)()}

    run = Path("run").absolute()
    shared = run / "shared"  # at work: gs://… or a shared disk
    local = run / f"host{jax.process_index()}"  # a disk of this host
    for folder in (shared, local):
        folder.mkdir(parents=True, exist_ok=True)
    wanted = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
    with emergency.CheckpointManager(
        local, shared, global_mesh=mesh, abstract_state=wanted, options=OPTIONS
    ) as saved:
        first = 0
        if saved.latest_step() is not None:
            first = saved.latest_step() + 1
            state = saved.restore(saved.latest_step()).state
            shard = state["w"].addressable_data(0)
            print(f"goes on after step {first - 1}, w = {shard}")
        for step in range(first, 9):
            state = {"w": state["w"] + 1}
            save = ocp.args.PyTreeSave(state)
            saved.save(step, args=ocp.args.Composite(state=save))
        saved.wait_until_finished()
    found = [
        sorted(path.name for path in folder.iterdir()) for folder in (shared, local)
    ]
    print(f"shared disk: steps {found[0]}, own disk: {found[1]}")


if __name__ == "__main__":
    main()
