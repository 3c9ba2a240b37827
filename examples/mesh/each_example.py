"""Map functions of one example over a sharded batch, and see which gather the batch.

Each function is mapped by `vmap` over a batch that lies sharded over "data", on a mesh
of this one axis and on one with an axis more, over which the batch is replicated. No
example needs another, so no device has to communicate.

Run it: `python -m examples.mesh.each_example`. With `pip install "jax[tpu]"`, or with
`jax[cuda13]` and JAX_PLATFORMS=cpu, `python -m examples.mesh.each_example v5e:2x4 …`,
or `… h100`, compiles for chips that are not here, and keeps the collectives that each
compiler inserts in `each_example.collectives.json`.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.scipy import linalg
from jax.sharding import AxisType, Mesh

from examples.scale.plan import gpus, tpus
from examples.tools.traffic import sends

KEPT = Path(__file__).with_name("each_example.collectives.json")
H100 = Path(__file__).parents[1] / "scale" / "h100.txtpb"
CHIPS = "v5e:2x4", "v5p:2x2x2", "v6e:2x4", "tpu7x:2x2x1", "h100"
MESHES = {"one axis": (("data",), (-1,)), "two axes": (("data", "model"), (-1, 2))}


def until_large(row):
    """Double a row until its sum is large; the number of steps depends on the row."""
    return lax.while_loop(lambda row: row.sum() < 1000, lambda row: 2 * row, row)


def shuffled(row):
    """Return the numbers 0 to 7 in an order that depends on the row."""
    return jax.random.permutation(jax.random.key(row[0].astype(int)), 8)


OF_ROWS = {  # functions of 128 numbers
    "top_k": lambda row: lax.top_k(row, 3)[0],
    "approx_max_k": lambda row: lax.approx_max_k(row, 3)[0],
    "sort": jnp.sort,
    "median": jnp.median,
    "argmax": jnp.argmax,
    "cumsum": jnp.cumsum,
    "searchsorted": lambda row: jnp.searchsorted(jnp.sort(row), row[:5]),
    "fft": jnp.fft.fft,
    "convolve": lambda row: jnp.convolve(row, row[:5]),
    "permutation": shuffled,
    "while_loop": until_large,
}
OF_MATRICES = {  # functions of 16 x 16 numbers, symmetric and positive definite
    "cholesky": jnp.linalg.cholesky,
    "qr": lambda a: jnp.linalg.qr(a)[0],
    "solve_triangular": lambda a: linalg.solve_triangular(a, a[0]),
    "solve(assume_a='pos')": lambda a: linalg.solve(a, a[0], assume_a="pos"),
    "solve": lambda a: linalg.solve(a, a[0]),
    "lu": lambda a: linalg.lu(a)[2],
    "inv": jnp.linalg.inv,
    "det": jnp.linalg.det,
    "expm": linalg.expm,
    "eigh": jnp.linalg.eigvalsh,
    "svd": lambda a: jnp.linalg.svd(a)[1],
}
FUNCTIONS = OF_ROWS | OF_MATRICES


def shape_of(name, count=64):
    """Return the shape of a batch for the function of this name."""
    return (count, 128) if name in OF_ROWS else (count, 16, 16)


def collectives(name, mesh):
    """Return the kinds of collectives in a mapped function, compiled for a mesh."""
    sharding = jax.NamedSharding(mesh, P("data"))
    batch = jax.ShapeDtypeStruct(shape_of(name), jnp.float32, sharding=sharding)
    with jax.set_mesh(mesh):
        compiled = jax.jit(jax.vmap(FUNCTIONS[name])).lower(batch).compile()
    return sorted({sent.kind for sent in sends(compiled)})


def on_each_mesh(name, devices):
    """Return the collectives on meshes of Auto axes, and errors on Explicit ones."""
    found, errors = {}, set()
    for title, (axes, shape) in MESHES.items():
        grid = np.reshape(devices, shape)
        auto, explicit = (
            Mesh(grid, axes, axis_types=(kind,) * len(axes))
            for kind in (AxisType.Auto, AxisType.Explicit)
        )
        found[title] = collectives(name, auto)
        try:
            on_explicit = collectives(name, explicit)
        except Exception as error:  # a ShardingTypeError, or a ValueError
            errors.add(type(error).__name__)
        else:
            if on_explicit != found[title]:
                raise AssertionError(f"{name}: Explicit axes are not as Auto ones")
    return found | ({"Explicit axes": sorted(errors)} if errors else {})


def keep(chips):
    """Compile all functions for chips, and keep what is found."""
    for chip in chips:
        devices = (gpus(H100.read_text()) if chip == "h100" else tpus(chip)).devices
        compiler = "jax-cuda13-plugin" if chip == "h100" else "libtpu"
        made = {package: version(package) for package in ("jax", compiler)}
        found = {"made with": made}
        for name in FUNCTIONS:
            found[name] = on_each_mesh(name, devices.reshape(-1))
            print(chip, name, found[name], flush=True)
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        kept[chip] = found
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")


def main(chips=()):
    """Compare each function with itself in `shard_map`; or compile for chips.

    >>> main()
    22 of 22 functions return the same in shard_map
    """
    if chips:
        keep(chips)
        return
    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
    count, same = 8 * jax.device_count(), 0
    draw = np.random.default_rng(0)
    with jax.set_mesh(mesh):
        for name, f in FUNCTIONS.items():
            batch = draw.uniform(0.1, 1, shape_of(name, count)).astype(np.float32)
            if name in OF_MATRICES:
                batch = batch @ batch.swapaxes(1, 2) / 16 + np.eye(16, dtype=np.float32)
            batch = jax.device_put(batch, P("data"))
            on_shards = jax.shard_map(
                jax.vmap(f), in_specs=P("data"), out_specs=P("data")
            )
            with jax.default_matmul_precision("highest"):
                expected, found = jax.jit(jax.vmap(f))(batch), jax.jit(on_shards)(batch)
            same += np.allclose(found, expected, rtol=1e-3, atol=1e-3)
    print(f"{same} of {len(FUNCTIONS)} functions return the same in shard_map")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main(sys.argv[1:])
