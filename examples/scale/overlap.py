"""Layers whose weights are gathered, and what compilers run beside the gathers.

Each way computes the same layers: with a gather in every step of the loop, with two
layers a step, with the next layer gathered early. `beside` reads from each compiled
program whether a collective runs beside a matrix product.

Run it: `python -m examples.scale.overlap`. With `pip install "jax[tpu]"`, or with
`jax[cuda13]` and JAX_PLATFORMS=cpu, `python -m examples.scale.overlap v5e:2x4 …`, or
`… h100`, compiles for chips that are not here, and keeps what it finds in
`overlap.schedules.json`, and the lines of `forward` in `overlap.CHIP.OPTIONS.txt`.
"""

import json
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.scale.plan import gpus, tpus
from examples.tools.overlap import beside, excerpt

KEPT = Path(__file__).with_name("overlap.schedules.json")
CHIPS = "v5e:2x4", "v5p:2x2x2", "v6e:2x4", "tpu7x:2x2x1", "h100"
LARGER = "v5p:2x2x4", "v6e:8x8"  # whole slices of more than eight chips
SPARSE_CORES = {
    f"xla_tpu_enable_sparse_core_collective_offload_{kind}": True
    for kind in ("all_gather", "reduce_scatter", "all_reduce")
}
SPARSE_CORES_TORUS = SPARSE_CORES | {  # also for gathers along several axes of a torus
    f"xla_tpu_enable_sparse_core_collective_offload_{axes}d_all_gather": True
    for axes in (2, 3)
}
LARGE_BUCKETS = {
    f"xla_gpu_{kind}_combine_threshold_bytes": 2**30
    for kind in ("all_gather", "reduce_scatter")
}
FUSED_GATHERS = {  # not for all chips together
    "xla_enable_async_all_gather": True,
    "xla_tpu_enable_async_collective_fusion_fuse_all_gather": True,
}
LEFT_OUT = {  # of the default, because they compile for minutes
    "tpu7x:2x2x1": (
        "next layer early",
        "next layer early, two a step",
        "training, two layers a step",
    )
}


def gathered(weights):
    """Return all of a layer's weights, from the shards of all devices."""
    return jax.tree.map(lambda w: jax.reshard(w, P()), weights)


def layer(x, weights):
    """Two products, (tokens, width) to the same, with weights that are gathered."""
    up, down = weights
    return x + jax.nn.relu(x @ up) @ down


def forward(weights, x, unroll=1):
    """Gather each layer's weights in the step of the loop that uses them."""

    def step(x, weights):
        return layer(x, gathered(weights)), None

    return lax.scan(step, x, weights, unroll=unroll)[0]


def early(weights, x, unroll=1):
    """Gather the weights of the next layer in the step that computes this one."""
    first = jax.tree.map(lambda w: w[0], weights)
    others = jax.tree.map(lambda w: w[1:], weights)

    def step(carry, next_weights):
        x, weights = carry
        return (layer(x, weights), gathered(next_weights)), None

    (x, last), _ = lax.scan(step, (x, gathered(first)), others, unroll=unroll)
    return layer(x, last)


def training(weights, x, unroll=1):
    """Return the gradient of a loss, with the weights gathered again for it."""

    @jax.checkpoint
    def step(x, weights):
        return layer(x, gathered(weights)), None

    def loss(weights):
        y = lax.scan(step, x, weights, unroll=unroll)[0]
        return (y.astype(jnp.float32) ** 2).mean()

    return jax.grad(loss)(weights)


def tensor_parallel(weights, x):
    """One layer with tokens sharded between its products, hidden units inside it."""
    up, down = weights
    hidden = jax.nn.relu(jnp.matmul(x, up, out_sharding=P(None, "data")))
    return jnp.matmul(hidden, down, out_sharding=P("data"))


FSDP = P(None, "data"), P(None, "data"), P("data")
TENSOR = P(None, "data"), P("data"), P("data")
WAYS = {
    "forward": (forward, FSDP),
    "two layers a step": (partial(forward, unroll=2), FSDP),
    "next layer early": (early, FSDP),
    "next layer early, two a step": (partial(early, unroll=2), FSDP),
    "training": (training, FSDP),
    "training, two layers a step": (partial(training, unroll=2), FSDP),
    "tensor parallel": (tensor_parallel, TENSOR),
}
SETS = {  # of options: for which chips, and for which ways
    "default": ({}, CHIPS, tuple(WAYS)),
    "sparse cores": (SPARSE_CORES, ("v5p:2x2x2", "v6e:2x4"), tuple(WAYS)[:5]),
    "sparse cores, larger": (SPARSE_CORES, LARGER, ("forward", "training")),
    "sparse cores, torus": (SPARSE_CORES_TORUS, LARGER, ("forward", "training")),
    "O1": ({"optimization_level": "O1"}, ("h100",), ("forward", "training")),
    "large buckets": (LARGE_BUCKETS, ("h100",), ("training",)),
    "no scheduler": (
        {"xla_gpu_enable_latency_hiding_scheduler": False},
        ("h100",),
        ("forward",),
    ),
    "no fusion": (
        {"xla_tpu_enable_async_collective_fusion": False},
        ("v5e:2x4",),
        ("forward",),
    ),
}


def shapes(mesh, specs, layers=8, tokens=4096, width=4096, hidden=16384):
    """Describe bfloat16 weights, and `tokens` of x for each device; one layer if 0."""
    up, down = (width, hidden), (hidden, width)
    rows = tokens * mesh.size
    if specs == TENSOR:
        rows = tokens
    else:
        up, down = (layers, *up), (layers, *down)
    described = [
        jax.ShapeDtypeStruct(
            shape, jnp.bfloat16, sharding=jax.NamedSharding(mesh, spec)
        )
        for shape, spec in zip((up, down, (rows, width)), specs, strict=True)
    ]
    return tuple(described[:2]), described[2]


def compiled(mesh, way, options=None):
    """Compile a way for the devices of a mesh, "data", with XLA's `options`."""
    function, specs = WAYS[way]
    with jax.set_mesh(mesh):
        function = jax.jit(function, compiler_options=options)
        return function.lower(*shapes(mesh, specs)).compile()


def refusal(mesh, options):
    """Return what a compiler says where it refuses `options`, or None."""
    try:
        compiled(mesh, "forward", options)
    except jax.errors.JaxRuntimeError as error:
        return str(error)
    return None


def keep(names):
    """Compile all ways and sets of options for chips, and keep what is found."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name in names:
        h100 = Path(__file__).with_name("h100.txtpb").read_text()
        mesh = gpus(h100) if name == "h100" else tpus(name)
        compiler = "jax-cuda13-plugin" if name == "h100" else "libtpu"
        made = {package: version(package) for package in ("jax", compiler)}
        kept[name] = {"made with": made}
        if name in CHIPS and name != "h100":
            kept[name]["refusal"] = {
                "one": [
                    refusal(mesh, {key: value}) for key, value in FUSED_GATHERS.items()
                ],
                "both": refusal(mesh, FUSED_GATHERS),
            }
        for title, (options, chips, ways) in SETS.items():
            if name not in chips:
                continue
            for way in (way for way in ways if way not in LEFT_OUT.get(name, ())):
                program = compiled(mesh, way, options)
                found = {
                    "beside": beside(program.as_text()),
                    "in loops": beside(program.as_text(), loops_only=True),
                    "temporaries": program.memory_analysis().temp_size_in_bytes,
                }
                kept[name].setdefault(title, {})[way] = found
                print(name, title, way, found, flush=True)
                if way == "forward" and name in CHIPS:
                    listing = f"overlap.{name.split(':')[0]}.{title}.txt"
                    lines = "\n".join(excerpt(program.as_text()))
                    KEPT.with_name(listing.replace(" ", "_")).write_text(f"{lines}\n")
                KEPT.write_text(json.dumps(kept, indent=1) + "\n")


def main(names=()):
    """Compute small layers in all ways on eight devices; or compile for chips.

    >>> main()
    forward: the same numbers as NumPy's True
    next layer early: the same numbers as NumPy's True
    """
    if names:
        keep(names)
        return
    rng = np.random.default_rng(0)
    up = rng.integers(-1, 2, (3, 16, 32)).astype(np.float32)
    down = rng.integers(-1, 2, (3, 32, 16)).astype(np.float32)
    x = rng.integers(-1, 2, (64, 16)).astype(np.float32)
    expected = x
    for weights in zip(up, down, strict=True):
        expected = expected + np.maximum(expected @ weights[0], 0) @ weights[1]
    with jax.set_mesh(jax.make_mesh((8,), ("data",), devices=jax.devices()[:8])):
        placed = jax.device_put((up, down, x), FSDP)
        for way in ("forward", "next layer early"):
            with jax.default_matmul_precision("highest"):  # as NumPy computes
                y = jax.jit(WAYS[way][0])(placed[:2], placed[2])
            same = np.allclose(y, expected, rtol=1e-5)
            print(f"{way}: the same numbers as NumPy's {same}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main(sys.argv[1:])
