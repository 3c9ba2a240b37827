"""Print what a compiled program communicates: its collectives, and their bytes.

The compiler adds collectives that nobody wrote, and drops or joins those that somebody
did, so only the compiled program says what is communicated. Every collective is a line
of its text, with its operands and the groups of devices that take part.

Use it: `what_it_sends(f, *args)` for any function, `sends(jitted.lower(*args))`.
"""

import math
import re
from typing import NamedTuple

import jax
import numpy as np

KINDS = set(
    "all-reduce all-gather all-to-all reduce-scatter collective-permute "
    "collective-broadcast ragged-all-to-all".split()
)
# A fusion that calls a computation of this name runs as one reduce-scatter, although
# the lines of the computation say "all-reduce": they add all, and keep a part.
FUSED_SCATTER = "all-reduce-scatter"
# For TPU v5e a collective may start in one fusion and go on in others, which have its
# line again: those that call a computation of this name, and the last.
GOES_ON, LAST = "async_collective_fusion", '"AsyncCollectiveDone"'
CALLED = r"(?:calls|body|condition|computations?)=(\{.*?\}|%\S+)"
# What a call runs, or a SparseCore, where `call-start` starts it. A sum or a sort has
# such a computation as well: what it does with two numbers.
APPLIED = r"to_apply=(%\S+)"


class Sent(NamedTuple):
    """One collective of a compiled program, as one device sees it."""

    kind: str  # as the compiler writes it, such as "all-reduce"
    operand: int  # bytes that one device puts in
    groups: tuple  # of positions in the mesh; (source, target) of a permute
    times: int | None  # that one run executes it; None in a loop without a known end

    @property
    def moved(self):
        """Bytes that one device sends each time, where sums and gathers go in rings.

        Of an all-to-all they are its own bytes, as through a switch: on a ring others
        send them once more. A switch that adds needs only the operand of an all-reduce.
        """
        n = max(map(len, self.groups), default=1)
        share = {"all-gather": n - 1, "all-reduce": 2 * (n - 1) / n}
        share |= dict.fromkeys(("reduce-scatter", "all-to-all"), (n - 1) / n)
        return round(self.operand * share.get(self.kind, 1))


def sends(stage):
    """List the collectives of a `jax.stages.Lowered` or `Compiled` as `Sent`, in order.

    One that is started and awaited apart counts once. Raises ValueError where the
    compiler writes groups in a form that is unknown here.
    """
    compiled = stage.compile() if hasattr(stage, "compile") else stage
    head, *lines = compiled.as_text().splitlines()
    counts = re.findall(r"(?:num_partitions|replica_count)=(\d+)", head)
    devices = math.prod(map(int, counts))
    shapes, inside = {}, {}  # of each name its shape, of each computation its lines
    for line in lines:
        if match := re.match(r"(ENTRY )?%(\S+) \(.*\{\s*$", line):
            current = inside[match[1] or match[2]] = []
        elif match := re.match(
            r"\s+(?:ROOT )?%(\S+) = (.+?) ([a-z][\w-]*)\((.*)", line
        ):
            name, shapes[name], *operation = match.groups()
            current.append(operation)

    def goes_on(name):
        return name.startswith(GOES_ON) or any(LAST in rest for _, rest in inside[name])

    def walk(computation, times):
        if goes_on(computation):
            return
        for operation, rest in inside[computation]:
            kind = operation.removesuffix("-start")
            if kind in KINDS:
                if computation.startswith(FUSED_SCATTER):
                    kind = "reduce-scatter"
                operands = re.findall(r"%([^\s,]+)", rest.split(")")[0])
                size = sum(_bytes_of(shapes[name]) for name in operands)
                yield Sent(kind, size, _groups_of(rest, devices), times)
            known = re.search(r'"known_trip_count":\{"n":"(\d+)"', rest)
            turns = 1 if operation != "while" else int(known[1]) if known else None
            often = None if None in (times, turns) else times * turns
            called = re.findall(CALLED, rest)
            if operation in ("call", "call-start"):
                called += re.findall(APPLIED, rest)
            for name in called:
                for one in re.findall(r"%([^\s,}]+)", name):
                    yield from walk(one, often)

    return list(walk("ENTRY ", 1))


def what_it_sends(fn, *args):
    """Compile `fn`, jitted or not, for `args`; print a line for each collective."""
    lower = getattr(fn, "lower", None) or jax.jit(fn).lower
    found = sends(lower(*args))
    for sent in found:
        count, size = len(sent.groups), max(map(len, sent.groups), default=1)
        who = (
            f"{count} pairs" if "permute" in sent.kind else f"{count} x {size} devices"
        )
        often = "in a loop" if sent.times is None else f"{sent.times} x"
        print(f"{sent.kind:18} {who:14} {often:>9} {sent.moved:11,} bytes a device")
    if not found:
        print("no communication")


def _bytes_of(shape):
    """Return the bytes of a shape, or of a tuple of shapes, such as "f32[2,8]{1,0}"."""
    found = re.findall(r"\b(pred|[a-z]\w*?(\d+)\w*)\[([\d,]*)\]", shape)
    return sum(math.prod(_ints(axes)) * int(bits or 8) // 8 for _, bits, axes in found)


def _groups_of(text, devices):
    """Return who talks to whom, written as sets, as an iota, or as axes of a mesh."""
    if match := re.search(r"(?:groups|target_pairs)=\{([{}\d,]*)\}", text):
        found = re.findall(r"\{([\d,]+)\}", match[1])
        return tuple(map(_ints, found)) or (tuple(range(devices)),)
    if match := re.search(r"groups=(\[\S+\])<=(\S+?)(?:, |$)", text):
        groups = _iota(match[2]).reshape(_ints(match[1]))
    elif match := re.search(
        r"groups=mesh\[(.*?)\](?:, device_ids=\((\S+)\))? \{(.*?)\}", text
    ):
        ids = _iota(match[2] or f"[{devices}]")
        groups = _along(ids, re.findall(r"'(\w+)'=(\d+)", match[1]), match[3])
    else:
        raise ValueError(f"no groups of devices were found in {text[:200]!r}")
    return tuple(map(tuple, groups.tolist()))


def _along(ids, axes, talking):
    """Return a row of `ids` for each group, along `talking`: axes, or parts of axes."""
    parts = re.findall(r"'(\w+)'(?::\((\d+)\)(\d+))?", talking)
    sizes = {name: (int(outer or 1), inner) for name, outer, inner in parts}
    shape, place = [], {}
    for name, size in axes:
        outer, inner = sizes.get(name, (1, ""))
        place[name] = len(shape) + 1
        shape += [outer, int(inner or size), int(size) // (outer * int(inner or size))]
    talk = [place[name] for name in sizes]
    rows = np.moveaxis(ids.reshape(shape), talk, range(-len(talk), 0))
    return rows.reshape(-1, math.prod(shape[axis] for axis in talk))


def _iota(text):
    """Return the numbers that "[4,2]T(1,0)" stands for: counted, then transposed."""
    shape, *order = map(_ints, re.findall(r"[\d,]+", text))
    ids = np.arange(math.prod(shape)).reshape(shape)
    return ids.transpose(*order)


def _ints(text):
    """Return the numbers of a text such as "[4,2]"."""
    return tuple(map(int, re.findall(r"\d+", text)))
