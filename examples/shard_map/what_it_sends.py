"""Print what the devices send each other when a function runs.

Why it is hard: the compiler adds collectives that nobody wrote and drops or joins those
that somebody did, so the source does not say what is sent.
What finishes it: the compiled program says it. Every collective is one line there, with
the shape that one device puts in or gets out, and the groups of devices that talk.

Run it: `python -m examples.shard_map.what_it_sends`
"""

import math
import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

KINDS = (
    *("all-reduce", "all-gather", "all-to-all", "reduce-scatter"),
    *("collective-permute", "collective-broadcast", "ragged-all-to-all"),
)
LINE = re.compile(rf"%\S+ = (.+?) ({'|'.join(KINDS)})(-start)?\((.*)")
SHAPE = re.compile(r"\b(pred|bf16|[a-z]\w*?(\d+)\w*)\[([\d,]*)\]")
COMPUTATION = re.compile(r"(ENTRY )?%?(\S+) \(.*-> .*\{\s*$")
CALL = re.compile(r"(\w+)=\{?((?:%[^\s,{}]+(?:, )?)+)")
TALKING = re.compile(r"'(\w+)'(?::\((\d+)\)(\d+))?")
TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')


class Sent(NamedTuple):
    """One collective of a compiled program, seen from one device."""

    kind: str  # as the compiler writes it, such as "all-reduce"
    operand: int  # bytes that one device puts in
    groups: tuple  # of device positions that talk; (source, target) for a permute
    times: int | None  # that one run executes it; None where a loop's end is unknown

    @property
    def moved(self):
        """Bytes that one device sends, at least, each time: those of a ring."""
        n = max(map(len, self.groups), default=1)
        share = {"all-gather": n - 1, "all-reduce": 2 * (n - 1) / n}
        share |= dict.fromkeys(("reduce-scatter", "all-to-all"), (n - 1) / n)
        return round(self.operand * share.get(self.kind, 1))


def sends(stage):
    """List the collectives of `stage`, a `jax.stages.Lowered` or `Compiled`.

    The shapes in the compiled text, and so the bytes, are those of one device.
    Raises ValueError where the compiler prints groups in a form unknown here.
    """
    compiled = stage.compile() if hasattr(stage, "compile") else stage
    lines = re.sub(r"metadata=\{.*?\}", "", compiled.as_text()).splitlines()
    devices, times = _devices(lines[0]), _times(lines)
    found, inside = [], None
    for line in lines:
        if match := COMPUTATION.match(line):
            inside = match[2]
        if match := LINE.search(line):
            result, kind, start, rest = match.groups()
            groups = _groups(rest, devices)
            operand = _operand(kind, result, start, max(map(len, groups), default=1))
            found.append(Sent(kind, operand, groups, times(inside)))
    return found


def what_it_sends(fn, *args):
    """Compile `fn`, jitted or not, for `args`, and print what each device sends."""
    lower = getattr(fn, "lower", None) or jax.jit(fn).lower
    found = sends(lower(*args))
    for sent in found:
        count, size = len(sent.groups), max(map(len, sent.groups), default=1)
        pairs = f"{count} pairs" if "permute" in sent.kind else f"{count} x {size}"
        often = "in a loop" if sent.times is None else f"{sent.times} x"
        print(f"{sent.kind:18} {pairs:8} {often:9} {sent.moved:9,} bytes a device")
    if not found:
        print("nothing is sent")


def around(mesh):
    """Return a function that hands the rows, (n, k) split over `mesh`, to the next."""
    ring = [(k, (k + 1) % mesh.size) for k in range(mesh.size)]

    def body(x):
        def turn(_, held):
            return lax.ppermute(held, "rows", ring)

        return lax.fori_loop(0, mesh.size - 1, turn, x)

    one = P("rows")
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=one, out_specs=one))


def _operand(kind, result, start, size):
    """Return the bytes of the operand, told from the shapes of the result."""
    shapes = SHAPE.findall(result)
    if start and kind in ("all-gather", "collective-permute"):
        shapes = [shape for shape in shapes if shape[0] != "u32" or shape[2]]
        shapes = shapes[: len(shapes) // 2]  # the operands, then the results
        return sum(map(_bytes, shapes))
    total = sum(map(_bytes, shapes))
    grow = {"all-gather": 1 / size, "reduce-scatter": size}
    return round(total * grow.get(kind, 1))


def _bytes(shape):
    name, bits, axes = shape
    bits = {"pred": 8, "bf16": 16}.get(name) or int(bits)
    return math.prod(int(n) for n in axes.split(",") if n) * bits // 8


def _devices(header):
    """Return how many devices the program is for."""
    counts = re.findall(r"(?:num_partitions|replica_count)=(\d+)", header)
    return math.prod(map(int, counts))


def _groups(text, devices):
    """Read groups written as sets, as an iota, or as axes of a mesh, in its order."""
    if match := re.search(
        r"(?:replica_groups|source_target_pairs)=\{([{}\d,]*)\}", text
    ):
        found = re.findall(r"\{([\d,]+)\}", match[1])
        sets = tuple(tuple(map(int, group.split(","))) for group in found)
        return sets or (tuple(range(devices)),)
    if match := re.search(r"replica_groups=(\[[\d,]+\]<=\S+?)(?:, |$)", text):
        shape, iota = match[1].split("<=")
        ids = _iota(iota).reshape([int(n) for n in re.findall(r"\d+", shape)])
    elif match := re.search(
        r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\((\S+)\))? \{([^}]*)\}", text
    ):
        ids = np.arange(devices) if match[2] is None else _iota(match[2])
        ids = _along(ids, re.findall(r"'(\w+)'=(\d+)", match[1]), match[3])
    else:
        raise ValueError(f"no groups of devices were found in {text[:200]!r}")
    return tuple(tuple(group) for group in ids.tolist())


def _along(ids, axes, talking):
    """Return a row for each group: `ids` on a mesh of `axes`, along those in `talking`.

    An axis in part, such as 'inner':(2)2, is cut into 2 parts of 2 that talk.
    """
    shape, place = [], {}
    parts = {name: part for name, *part in re.findall(TALKING, talking)}
    for name, size in axes:
        outer, inner = parts.get(name, ("", ""))
        outer, inner = int(outer or 1), int(inner or size)
        place[name] = len(shape) + 1
        shape += [outer, inner, int(size) // (outer * inner)]
    talk = [place[name] for name in parts]
    ids = np.moveaxis(ids.reshape(shape), talk, range(-len(talk), 0))
    return ids.reshape(-1, math.prod(shape[axis] for axis in talk))


def _iota(text):
    """Return the numbers that [4,2]T(1,0) stands for: counted, then transposed."""
    shape, *order = re.findall(r"[\d,]+", text)
    shape = [int(n) for n in shape.split(",")]
    ids = np.arange(math.prod(shape)).reshape(shape)
    return ids.transpose([int(n) for n in order[0].split(",")]) if order else ids


def _times(lines):
    """Return a function from a computation's name to how often one run executes it."""
    callers, inside = {}, None
    for line in lines:
        if match := COMPUTATION.match(line):
            inside = match[2].lstrip("%")
        elif inside is not None:
            trips = TRIPS.search(line)
            turns = int(trips[1]) if trips else None
            for role, names in CALL.findall(line):
                for name in re.findall(r"%([^\s,]+)", names):
                    callers[name] = inside, turns if role == "body" else 1

    def times(name):
        caller, count = callers.get(name, (None, 1))
        around = 1 if caller is None else times(caller)
        return None if None in (count, around) else count * around

    return times


def lower(mesh):
    """Lower the ring for a mesh of any size, with 4 MiB on each device."""
    rows = NamedSharding(mesh, P("rows"))
    x = jax.ShapeDtypeStruct((8192 * mesh.size, 128), jnp.float32, sharding=rows)
    return around(mesh).lower(x)


def main(devices=None):
    """Print what the devices send for one sum, one product and one ring.

    >>> main()
    the sum of all rows
    all-reduce         1 x 8    1 x              56 bytes a device
    twice the rows
    nothing is sent
    all rows, seven times to the next device
    collective-permute 8 pairs  7 x              32 bytes a device
    """
    if devices is None:
        devices = jax.devices() if jax.device_count() >= 8 else jax.devices("cpu")
    mesh = jax.make_mesh((8,), ("rows",), devices=devices[:8])
    x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("rows")))
    print("the sum of all rows")
    what_it_sends(lambda x: x.sum(axis=0), x)
    print("twice the rows")
    what_it_sends(lambda x: 2 * x, x)
    print("all rows, seven times to the next device")
    what_it_sends(around(mesh), x)


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
