"""What programs for two slices of TPUs send through the network between them.

A slice is a group of TPUs whose own links join them. Between slices there is a network,
and XLA writes what goes through it as `send` and `recv`, with the kind of transfer in
an attribute. `crossing` reads these from the text of a compiled program.

Run it: `python -m examples.scale.slices`. With `pip install "jax[tpu]"`,
`python -m examples.scale.slices v5e:2x4` compiles for two such slices that are not
here, and keeps what it finds in `slices.crossing.json`.
"""

import json
import os
import re
import sys
from importlib.metadata import version
from math import prod
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.experimental.mesh_utils import create_hybrid_device_mesh
from jax.sharding import AxisType, Mesh

from examples.tools.overlap import computations, multiplies

KEPT = Path(__file__).with_name("slices.crossing.json")
LAYERS, WIDTH, HIDDEN, TOKENS = 8, 2048, 8192, 1024  # tokens on each device
EVERYWHERE = "slice", "data"


def two_slices(topology):
    """Return a mesh, "slice" by "data", of two slices of TPUs that are not here."""
    from jax.experimental.topologies import get_topology_desc

    os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost"}
    os.environ["TPU_ACCELERATOR_TYPE"] = "v5e-8"  # any; it keeps the library calm
    devices = get_topology_desc(
        platform="tpu", topology_name=topology, num_slices=2
    ).devices
    grid = create_hybrid_device_mesh((1, len(devices) // 2), (2, 1), devices)
    return Mesh(grid, EVERYWHERE, axis_types=(AxisType.Explicit,) * 2)


def crossing(text):
    """List what a compiled program sends to other slices.

    Each is (kind, bytes, in a loop, products between its start and the wait for it).
    """
    loops = re.findall(r"body=%([\w.-]+)", text)
    program, found = computations(text), []
    for name, lines in program.items():
        for at, line in enumerate(lines):
            if " send(" in line and "_xla_megascale_transfer_type" in line:
                kind = re.findall(r'_transfer_type="(\w+)"', line)[0]
                dtype, shape = re.findall(r"= \((\w+)\[([\d,]*)\]", line)[0]
                nbytes = int(re.findall(r"\d+", dtype)[0]) // 8
                nbytes *= prod(map(int, shape.split(",")))
                kind = kind.lower().replace("_", "-")
                products = sum(map(multiplies(program), lines[at : wait(lines, line)]))
                found.append((kind, nbytes, name in loops, products))
    return found


def wait(lines, send):
    """Return where a computation waits for what comes back for a `send`."""
    transfer = re.findall(r'_transfer_rendezvous="[^"]*"', send)[0]
    recv = next(line for line in lines if " recv(" in line and transfer in line)
    done = f"recv-done({recv.split(' = ')[0]})"
    return next(at for at, line in enumerate(lines) if done in line)


def mapped(function, before, after):
    """Return a function of shards, for the mesh that is set."""
    return jax.shard_map(function, in_specs=before, out_specs=after)


def in_two_steps(x):
    """Exchange rows in the slice, and then with the other slice: (n, k) as it was."""
    x = x.reshape(2, lax.axis_size("data"), -1, x.shape[-1])
    x = lax.all_to_all(x, "data", 1, 1, tiled=True)
    return lax.all_to_all(x, "slice", 0, 0, tiled=True).reshape(-1, x.shape[-1])


def half_across(x):
    """Exchange rows among all devices of two slices; half of them go to the other."""
    x = x.reshape(2, lax.axis_size("data"), -1, x.shape[-1])
    x = lax.all_to_all(x, "data", 1, 1, tiled=True)
    other = 1 - lax.axis_index("slice")
    came = lax.ppermute(x[other], "slice", [(0, 1), (1, 0)])
    return x.at[other].set(came).reshape(-1, x.shape[-1])


ROWS = P(EVERYWHERE)
COLLECTIVES = {  # of 32 MB in bfloat16 on each device, or 2 MB where they are gathered
    "psum": mapped(lambda x: lax.psum(x, EVERYWHERE), ROWS, P()),
    "psum_scatter": mapped(
        lambda x: lax.psum_scatter(x, EVERYWHERE, tiled=True), ROWS, ROWS
    ),
    "all_gather": mapped(
        lambda x: lax.all_gather(x, EVERYWHERE, tiled=True, to="invarying"), ROWS, P()
    ),
    "all_to_all": mapped(
        lambda x: lax.all_to_all(x, EVERYWHERE, 0, 0, tiled=True), ROWS, ROWS
    ),
    "all_to_all in two steps": mapped(in_two_steps, ROWS, ROWS),
    "all_to_all, half across": mapped(half_across, ROWS, ROWS),
}


def loss(weights, x):
    """Mean square of some layers, with each layer's weights gathered in its step."""

    @jax.checkpoint
    def step(x, weights):
        up, down = jax.tree.map(lambda w: jax.reshard(w, P()), weights)
        return x + jax.nn.relu(x @ up) @ down, None

    return (lax.scan(step, x, weights)[0].astype(jnp.float32) ** 2).mean()


def tensor_loss(weights, x):
    """The same with the hidden units sharded over the slices."""

    @jax.checkpoint
    def step(x, weights):
        up, down = weights
        hidden = jax.nn.relu(jnp.matmul(x, up, out_sharding=P("data", "slice")))
        return x + jnp.matmul(hidden, down, out_sharding=P("data")), None

    return (lax.scan(step, x, weights)[0].astype(jnp.float32) ** 2).mean()


def hybrid_gradient(weights, x):
    """FSDP in a slice: a `pcast` before the gather, so that slices add only shards."""

    def of_shards(weights, x):
        def mean_loss(weights):
            weights = lax.pcast(weights, "slice", to="varying")

            @jax.checkpoint
            def step(x, weights):
                up, down = jax.tree.map(
                    lambda w: lax.all_gather(w, "data", tiled=True), weights
                )
                return x + jax.nn.relu(x @ up) @ down, None

            y = lax.scan(step, x, weights)[0].astype(jnp.float32)
            return lax.pmean((y**2).mean(), EVERYWHERE)

        return jax.grad(mean_loss)(weights)

    spec = P(None, "data")
    return mapped(of_shards, ((spec, spec), ROWS), (spec, spec))(weights, x)


TRAINING = {  # the gradient, and the specs of up, down and x
    "replicated": (jax.grad(loss), (P(), P(), ROWS)),
    "sharded in a slice": (jax.grad(loss), (P(None, "data"), P(None, "data"), ROWS)),
    "sharded in a slice, pcast": (
        hybrid_gradient,
        (P(None, "data"), P(None, "data"), ROWS),
    ),
    "sharded over all": (
        jax.grad(loss),
        (P(None, EVERYWHERE), P(None, EVERYWHERE), ROWS),
    ),
    "tensor parallel over slices": (
        jax.grad(tensor_loss),
        (P(None, None, "slice"), P(None, "slice"), P("data")),
    ),
}


def described(mesh, shape, spec):
    """Describe a bfloat16 array on a mesh."""
    sharding = jax.NamedSharding(mesh, spec)
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=sharding)


def lowered(mesh, name):
    """Lower one of COLLECTIVES or of TRAINING, for a mesh "slice" by "data"."""
    n = mesh.size
    with jax.set_mesh(mesh):
        if name in COLLECTIVES:
            rows = 4096 if name == "all_gather" else 4096 * n
            x = described(mesh, (rows, 4096), ROWS)
            return jax.jit(COLLECTIVES[name]).lower(x)
        gradient, (up, down, rows) = TRAINING[name]
        tokens = TOKENS * (mesh.shape["data"] if rows == P("data") else n)
        weights = (
            described(mesh, (LAYERS, WIDTH, HIDDEN), up),
            described(mesh, (LAYERS, HIDDEN, WIDTH), down),
        )
        return jax.jit(gradient).lower(weights, described(mesh, (tokens, WIDTH), rows))


def main(topologies=()):
    """Compile for two slices of each topology; or add gradients on eight devices.

    >>> main()
    replicated: the gradient of 1 device True
    sharded in a slice: the gradient of 1 device True
    sharded in a slice, pcast: the gradient of 1 device True
    sharded over all: the gradient of 1 device True
    """
    kept = json.loads(KEPT.read_text()) if topologies and KEPT.exists() else {}
    for topology in topologies:
        mesh = two_slices(topology)
        made = {package: version(package) for package in ("jax", "libtpu")}
        kept[topology] = {"made with": made}
        for name in (*COLLECTIVES, *TRAINING):
            text = lowered(mesh, name).compile().as_text()
            kept[topology][name] = crossing(text)
            print(topology, name, crossing(text), flush=True)
            KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    if topologies:
        return
    rng = np.random.default_rng(0)
    up = rng.standard_normal((2, 16, 32), np.float32) / 4
    down = rng.standard_normal((2, 32, 16), np.float32) / 6
    x = rng.standard_normal((32, 16), np.float32)
    expected = jax.device_get(jax.grad(alone)((up, down), x))
    with jax.set_mesh(jax.make_mesh((2, 4), EVERYWHERE, devices=jax.devices()[:8])):
        for name in list(TRAINING)[:4]:
            gradient, (up_spec, down_spec, rows) = TRAINING[name]
            weights = jax.device_put((up, down), (up_spec, down_spec))
            found = jax.jit(gradient)(weights, jax.device_put(x, rows))
            pairs = zip(found, expected, strict=True)
            same = all(np.allclose(a, b, rtol=0, atol=1e-4) for a, b in pairs)
            print(f"{name}: the gradient of 1 device {same}")


def alone(weights, x):
    """Return the loss as one device computes it."""
    for up, down in zip(*weights, strict=True):
        x = x + jax.nn.relu(x @ up) @ down
    return (x**2).mean()


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main(sys.argv[1:])
