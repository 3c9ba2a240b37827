"""Measure what devices reach: products, memory, vmap, collectives, a training step.

Each measurement is a function that takes sizes and returns plain numbers, in seconds,
bytes and operations; `measure` runs them all on the devices that JAX sees, and takes a
few minutes. The record of a machine is one JSON file, without a name of the machine.

Run it: `python -m examples.evidence.measured`
"""

import json
import platform
import sys
import time
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import P, lax
from jax.sharding import AxisType, NamedSharding

from examples.scale.how_long import CHIPS, leaves
from examples.tools.text import count_text, seconds_text
from examples.tools.timing import time_calls
from examples.train.transformer import batch, block, embed, score, shapes_of, through

# What JAX calls a chip whose figures the book knows: `jax.devices()[0].device_kind`.
KINDS = {
    "TPU v5 lite": "TPU v5e",
    "TPU v5": "TPU v5p",
    "TPU v5p": "TPU v5p",
    "TPU v6 lite": "TPU v6e",
    "TPU7x": "TPU7x",
    "NVIDIA H100 80GB HBM3": "H100",
}
RECORDS = Path(__file__).parents[2] / "docs/evidence/measurements"
# Sizes that fill an accelerator of 16 GB or more, and sizes that a CPU does in seconds.
LARGE = {
    "product": 8192,
    "copy": 2**30,
    "examples": 1024,
    "collectives": [2**n for n in (20, 22, 24, 26, 28)],
    "network": {"width": 2048, "blocks": 8, "length": 1024, "examples": 8, "head": 128},
}
SMALL = {
    "product": 256,
    "copy": 2**20,
    "examples": 64,
    "collectives": [2**12, 2**16],
    "network": {"width": 64, "blocks": 2, "length": 16, "examples": 4, "head": 8},
}


def seconds_of(call, in_a_row=1):
    """Return the median of the seconds that a call takes, without its compilation.

    Of several calls in a row only the last is awaited, so the device goes on to the
    next one while Python prepares it, as in a training loop.
    """

    def calls():
        for _ in range(in_a_row):
            result = call()
        return result

    return time_calls({"it": calls})["it"].median / in_a_row


def products(n):
    """Multiply two (n, n) matrices in four precisions: operations a second, and errors.

    The error is the largest of a product of numbers from a normal distribution, beside
    the largest entry of the exact product.
    """
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(n, n)).astype(np.float32) for _ in range(2))
    few = min(n, 256)  # rows of the exact product, which NumPy computes in float64
    exact = a[:few].astype(np.float64) @ b
    kinds = {
        "bfloat16 arrays": (jnp.bfloat16, None),
        "float32 arrays, as JAX does by default": (jnp.float32, None),
        "float32 arrays, precision tensorfloat32": (jnp.float32, "tensorfloat32"),
        "float32 arrays, precision float32": (jnp.float32, "float32"),
    }
    found = {}
    for name, (dtype, precision) in kinds.items():
        multiply = jax.jit(partial(jnp.matmul, precision=precision))
        x, y = jnp.asarray(a, dtype), jnp.asarray(b, dtype)
        seconds = seconds_of(lambda f=multiply, x=x, y=y: f(x, y), in_a_row=10)
        off = np.abs(np.asarray(multiply(x, y)[:few], np.float64) - exact).max()
        error = float(f"{off / np.abs(exact).max():.2g}")
        found[name] = {"flops": 2 * n**3 / seconds, "error": error}
    return found


def copy(nbytes):
    """Add one to an array of `nbytes`: bytes a second, read and written."""
    x = jax.random.normal(jax.random.key(0), nbytes // 4)
    add = jax.jit(lambda x: x + 1)
    return 2 * nbytes / seconds_of(lambda: add(x), in_a_row=4)


def vmap_and_loops(examples):
    """Run a small network on examples one by one, in lax.map, in vmap: seconds each."""
    rng = np.random.default_rng(0)
    w1, w2 = (
        jnp.asarray(rng.normal(size=s), jnp.float32) for s in ((64, 128), (128, 10))
    )
    xs = jnp.asarray(rng.normal(size=(examples, 64)), jnp.float32)

    def predict(x):
        return jax.nn.relu((x - x.mean()) @ w1) @ w2

    one, mapped = jax.jit(predict), jax.jit(jax.vmap(predict))
    in_turn = jax.jit(lambda xs: lax.map(predict, xs))
    calls = {
        "a Python loop over a jitted function": lambda: [one(x) for x in xs],
        "lax.map": lambda: in_turn(xs),
        "vmap": lambda: mapped(xs),
    }
    times = time_calls(calls)
    return {name: timing.median / examples for name, timing in times.items()}


def collectives(sizes):
    """Time each collective over all devices: bytes that leave a device, a second.

    Each of the n devices holds an array of `size` bytes. What has to leave a device is
    counted as NVIDIA's nccl-tests count it ("bus bandwidth"): of a psum 2 (n - 1) / n
    of the array, of the others (n - 1) / n, and of a ppermute all of it.
    """
    n = jax.device_count()
    mesh = jax.make_mesh((n,), ("all",), axis_types=(AxisType.Explicit,))
    around = [(k, (k + 1) % n) for k in range(n)]
    bodies = {
        "psum": lambda x: lax.psum(x, "all"),
        "all_gather": lambda x: lax.all_gather(x[: len(x) // n], "all", tiled=True),
        "psum_scatter": lambda x: lax.psum_scatter(x, "all", tiled=True),
        "all_to_all": lambda x: lax.all_to_all(x, "all", 0, 0, tiled=True),
        "ppermute": lambda x: lax.ppermute(x, "all", around),
    }
    found = {name: {} for name in bodies}
    for size in sizes:
        count = size // 4 // n * n  # a multiple of n numbers of float32
        x = jax.device_put(jnp.ones(n * count), NamedSharding(mesh, P("all")))
        for name, body in bodies.items():
            out = P() if name == "psum" else P("all")
            mapped = jax.shard_map(
                body, mesh=mesh, in_specs=P("all"), out_specs=out, check_vma=False
            )
            call = jax.jit(mapped)
            seconds = seconds_of(lambda f=call, x=x: f(x))
            found[name][str(4 * count)] = leaves(name, 4 * count, n, 0) / seconds
    return found


def operations(width, blocks, length, examples, **_):
    """Return the operations of one training step of a transformer, without recomputing.

    Six for each weight and token: two forward, four backward. And of attention, twelve
    for each block, token, position and width: q·k and the sum of v, both of all
    positions, of which those to the right are computed, too, and then left out.
    """
    tokens = examples * length
    weights = 12 * blocks * width**2
    return tokens * (6 * weights + 12 * blocks * length * width)


def step_and_state(width, blocks, length, head):
    """Return a jitted training step in bfloat16, and float32 parameters with moments.

    The parameters are replicated over the mesh in use. A block keeps its input only,
    and is computed again in the backward pass.
    """
    optimizer = optax.adam(1e-4)
    one_block = jax.checkpoint(partial(block, head=head))

    def loss_in_bfloat16(params, tokens):
        params = jax.tree.map(lambda w: w.astype(jnp.bfloat16), params)
        # The table of tokens is found by a product with float32, and so is the loss.
        x = embed(params, tokens[:, :-1]).astype(jnp.bfloat16)
        x = through(params, x, one_block).astype(jnp.float32)
        return score(params, x, tokens[:, 1:]).mean()

    def step(params, state, tokens):
        mean_loss, grads = jax.value_and_grad(loss_in_bfloat16)(params, tokens)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, mean_loss

    def start(key):
        shapes = shapes_of(blocks, width, length)
        keys = dict(zip(shapes, jax.random.split(key, len(shapes)), strict=True))
        params = {
            name: width**-0.5 * jax.random.normal(keys[name], shape)
            for name, shape in shapes.items()
        }
        return params, optimizer.init(params)

    params, state = jax.jit(start)(jax.random.key(0))
    return jax.jit(step, donate_argnums=(0, 1)), params, state


def training(width, blocks, length, examples, head):
    """Train on all devices, each with a share of the batch: seconds of a step, tokens.

    `examples` is the batch of one device. `flops` counts what the network needs, not
    what is computed a second time; `utilisation` is its part of what the maker says
    the chip can do in bfloat16, where the book knows that.
    """
    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
    sizes = {"width": width, "blocks": blocks, "length": length}
    with jax.set_mesh(mesh):
        step, params, state = step_and_state(**sizes, head=head)
        everywhere = NamedSharding(mesh, P())
        params, state = jax.device_put((params, state), everywhere)
        tokens = batch(0, examples * mesh.size, length)
        tokens = jax.device_put(tokens, NamedSharding(mesh, P("data")))
        losses, taken = [], []
        for _ in range(8):
            start = time.perf_counter()
            params, state, mean_loss = step(params, state, tokens)
            losses.append(float(mean_loss))  # waits for the step
            taken.append(time.perf_counter() - start)
    seconds = float(np.median(taken[2:]))  # the first two compile
    flops = operations(examples=examples, **sizes) / seconds  # of one device
    found = {
        **sizes,
        "examples of a device": examples,
        "parameters": sum(w.size for w in jax.tree.leaves(params)),
        "losses": [losses[0], losses[-1]],
        "seconds": seconds,
        "tokens a second": examples * mesh.size * length / seconds,
        "flops": flops,
        "peak bytes": memory().get("peak_bytes_in_use"),
    }
    if chip := KINDS.get(jax.devices()[0].device_kind):
        found["utilisation"] = flops / CHIPS[chip].flops
    return found


def memory():
    """Return what the first device says of its memory; a CPU says nothing."""
    return jax.devices()[0].memory_stats() or {}


def measure(sizes, say=print):
    """Return the record of the devices that JAX sees, and `say` each part of it."""
    first = jax.devices()[0]
    record = {
        "jax": jax.__version__,
        "jaxlib": jax.lib.__version__,
        "python": platform.python_version(),
        "platform": first.platform,
        "device_kind": first.device_kind,
        "device_count": jax.device_count(),
        "day": time.strftime("%Y-%m-%d", time.gmtime()),
        "memory": memory().get("bytes_limit"),
        "products": products(sizes["product"]),
    }
    for name, one in record["products"].items():
        say(f"{name}: {count_text(one['flops'] / 1e12)} TFLOP/s, off by {one['error']}")
    record["copy"] = copy(sizes["copy"])
    say(f"memory: {count_text(record['copy'] / 1e9)} GB/s")
    record["vmap"] = vmap_and_loops(sizes["examples"])
    for name, each in record["vmap"].items():
        say(f"{name}: {seconds_text(each)} an example")
    record["collectives"] = {}
    if jax.device_count() > 1:
        record["collectives"] = collectives(sizes["collectives"])
    for name, rates in record["collectives"].items():
        size, rate = list(rates.items())[-1]
        say(f"{name} of {size} bytes: {count_text(rate / 1e9)} GB/s")
    record["training"] = training(**sizes["network"])
    step = record["training"]
    say(f"a training step: {seconds_text(step['seconds'])}")
    say(f"tokens a second: {count_text(step['tokens a second'])}")
    return record


def real_records(folder=RECORDS):
    """Return the records in `folder` of devices that are no CPU, in order of names."""
    paths = sorted(Path(folder).glob("*.json"))
    read = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return [record for record in read if record["platform"] != "cpu"]


def table(records):
    """Return records as a table in Markdown, a column for each, or a sentence."""
    if not records:
        nobody = "Nobody has sent a record of a GPU or a TPU so far"
        return f"**{nobody}**, so there are no numbers here."
    columns = [dict(rows_of(record)) for record in records]
    names = list(dict.fromkeys(name for column in columns for name in column))
    heads = [
        f"{r['device_count']} × {r['device_kind']}, JAX {r['jax']}, {r['day']}"
        for r in records
    ]
    lines = [["measured", *heads], ["---"] * (1 + len(heads))]
    lines += [[name] + [column.get(name, "–") for column in columns] for name in names]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rows_of(record):
    """Give each measurement of a record as a name and a text."""
    chip = CHIPS.get(KINDS.get(record["device_kind"]))
    for name, one in record["products"].items():
        share = ""  # of what the maker says of bfloat16
        if chip and "bfloat16" in name:
            share = f", {one['flops'] / chip.flops:.0%} of the maker's figure"
        rate = f"{count_text(one['flops'] / 1e12)} TFLOP/s"
        yield f"product, {name}", f"{rate}{share}; off by {one['error']}"
    yield "memory, read and written", f"{count_text(record['copy'] / 1e9)} GB/s"
    for name, each in record["vmap"].items():
        yield f"an example, {name}", seconds_text(each)
    for name, rates in record["collectives"].items():
        size, rate = max((int(size), rate) for size, rate in rates.items())
        share = (
            f", {rate / chip.link:.0%} of the link" if chip and not chip.axes else ""
        )
        text = f"{count_text(rate / 1e9)} GB/s{share}"
        yield f"{name}, {size / 1e6:.0f} MB on a device", text
    step = record["training"]
    yield "a training step", seconds_text(step["seconds"])
    yield "tokens a second", f"{step['tokens a second']:,.0f}"
    if "utilisation" in step:
        yield "model FLOP utilisation", f"{step['utilisation']:.0%}"
    if step["peak bytes"]:
        yield "peak of memory", f"{count_text(step['peak bytes'] / 1e9)} GB"


def rounded(value):
    """Return a record with four digits of each number that was measured."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def file_name(record):
    """Return the name of the file of a record: hardware, count and version of JAX.

    >>> file_name({"device_kind": "TPU v5 lite", "device_count": 8, "jax": "0.12.0"})
    'tpu-v5-lite-x8-jax-0.12.0.json'
    """
    kind = "-".join(record["device_kind"].lower().split())
    return f"{kind}-x{record['device_count']}-jax-{record['jax']}.json"


def main(folder="docs/_build/measured"):
    """Measure the devices that JAX sees, and write the record into `folder`."""
    sizes = SMALL if jax.devices()[0].platform == "cpu" else LARGE
    record = rounded(measure(sizes))
    path = Path(folder, file_name(record))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"The record: {path}")
    if record["platform"] == "cpu":
        print("These are small sizes, to see that all of it runs: a CPU says little.")
    else:
        print(
            "To publish it: copy it to docs/evidence/measurements, and build the book."
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
