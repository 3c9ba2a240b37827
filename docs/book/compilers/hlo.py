"""Read the collectives of a compiled program, and the work beside them, from its text.

XLA prints a program as computations, of one instruction a line:
https://openxla.org/xla/operation_semantics. A collective counts once, whether it is
started and awaited in one line or in two, with the bytes that one device puts in.
Groups of devices in a form that is unknown here are an error, never a guess.

For TPUs, XLA may fuse a sum with the step that keeps a part of it. The fusion runs as
one reduce-scatter, but the computation that it calls has the words "all-reduce".

For TPU v5e, it may start a collective in a fusion, `async-collective-start`, and go on
with it in fusions that compute something else, too, up to `async-collective-done`.
Each of them has the line of the collective again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

KINDS = (
    *("all-reduce", "all-gather", "all-to-all", "reduce-scatter"),
    *("collective-permute", "collective-broadcast", "ragged-all-to-all"),
)
LINE = re.compile(rf"%\S+ = (.+?) ({'|'.join(KINDS)})(-start)?\((.*)")
FUSED_SCATTER = "all-reduce-scatter"  # how the name of such a computation begins
GOES_ON = "async_collective_fusion"  # the same, of one that goes on with a collective
STARTS, ENDS = "%async-collective-start", "%async-collective-done"  # instructions
AWAITS = 'custom_call_target="AsyncCollectiveDone"'  # in the computation of the last
SHAPE = re.compile(r"\b(pred|[a-z]\w*?(\d+)\w*)\[([\d,]*)\]")
COMPUTATION = re.compile(r"(?:ENTRY )?%?(\S+) \(.*-> .*\{\s*$")
CALL = re.compile(r"(\w+)=\{?((?:%[^\s,{}]+(?:, )?)+)")
AXIS = re.compile(r"'(\w+)'(?::\((\d+)\)(\d+))?")  # 'rows', or a part: 'rows':(2)2
TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
PRODUCT = re.compile(r" (?:dot|convolution)\(|custom_call_target=\"\S*(?:gemm|matmul)")

Groups = tuple[tuple[int, ...], ...]


class Collective(NamedTuple):
    """One collective of a compiled program, seen from one device."""

    kind: str  # as the compiler writes it, such as "all-reduce"
    operand: int  # bytes that one device puts in
    groups: Groups  # positions of devices; (source, target) for a permute
    axes: str | None  # the mesh axes, where the compiler prints the names it was given
    times: int | None  # that one run executes it; None where a loop's end is unknown

    @property
    def moved(self) -> int:
        """Bytes that one device sends each time, where the group is a ring.

        For an all-to-all these are its own bytes: on a ring they pass through others,
        which send them once more; between devices that are all connected they do not.
        """
        n = max(map(len, self.groups), default=1)
        if self.kind == "all-gather":
            return self.operand * (n - 1)
        if self.kind == "all-reduce":
            return round(self.operand * (2 * (n - 1) / n))
        if self.kind in ("reduce-scatter", "all-to-all"):
            return round(self.operand * ((n - 1) / n))
        return self.operand


class Started(NamedTuple):
    """A collective that is started in one line of a program and awaited in another."""

    start: str
    products: list[str]  # the lines between them that compute a matrix product
    done: str


def collectives_of(text: str) -> list[Collective]:
    """List the collectives of a compiled program's text, in its order, each once."""
    text = re.sub(r"metadata=\{.*?\}", "", text)
    header = text.partition("\n")[0]
    counts = re.findall(r"(?:num_partitions|replica_count)=(\d+)", header)
    computations = _computations(text)
    devices, times = math.prod(map(int, counts)), _times(computations)
    found = []
    for name, lines in computations.items():
        if _repeats(name, lines):
            continue
        for match in filter(None, map(LINE.search, lines)):
            result, kind, start, rest = match.groups()
            groups = _groups(rest, devices)
            size = max(map(len, groups), default=1)
            operand = _operand(kind, result, bool(start), size)
            kind = "reduce-scatter" if name.startswith(FUSED_SCATTER) else kind
            found.append(Collective(kind, operand, groups, _axes(rest), times(name)))
    return found


def lines_of(text: str) -> list[str]:
    """List the lines of a compiled program that are collectives, in its order.

    Of a fusion that is a reduce-scatter, the line that calls it.
    """
    called = f"calls=%{FUSED_SCATTER}"
    return [
        line
        for name, lines in _computations(text).items()
        if not _repeats(name, lines)
        for line in lines
        if called in line or (LINE.search(line) and not name.startswith(FUSED_SCATTER))
    ]


def started_of(text: str) -> list[Started]:
    """List the collectives that are started and awaited apart, with what is between.

    A matrix product is an instruction that is one, or that calls a computation with
    one, as a fusion or a loop does; an instruction that reads a product is none.
    """
    computations = _computations(text)
    with_product = _with_product(computations)
    found = []
    for lines in computations.values():
        for at, line in enumerate(lines):
            if (end := _wait(lines, at)) is None:
                continue
            between = [
                later
                for later in lines[at + 1 : end]
                if PRODUCT.search(later) or with_product & {*_called(later)}
            ]
            inside = [one for name in _called(line) for one in computations[name]]
            start = next(filter(LINE.search, [line, *inside]), line)
            found.append(Started(start, between, lines[end]))
    return found


def _wait(lines: list[str], at: int) -> int | None:
    """Return which of `lines` waits for what line `at` starts, if it starts anything.

    A collective in fusions is waited for where its state arrives, which is handed on
    from one to the next.
    """
    name = lines[at].removeprefix("ROOT ").split(" = ")[0]
    match = LINE.search(lines[at])
    if match and match[3]:
        awaits = re.compile(rf" {match[2]}-done\({re.escape(name)}[,)]")
        later = range(at + 1, len(lines))
        return next((n for n in later if awaits.search(lines[n])), None)
    if not name.startswith(STARTS):
        return None
    handed_on = {name}
    for n in range(at + 1, len(lines)):
        result, _, rest = lines[n].removeprefix("ROOT ").partition(" = ")
        if handed_on & set(re.findall(r"%[\w.-]+", rest)):
            if result.startswith(ENDS):
                return n
            handed_on.add(result)
    return None


def _repeats(name: str, lines: list[str]) -> bool:
    """Whether a computation goes on with a collective that another one has started."""
    return name.startswith(GOES_ON) or any(AWAITS in line for line in lines)


def _computations(text: str) -> dict[str, list[str]]:
    """Return the instructions of each computation by its name, a line for each."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if match := COMPUTATION.match(line):
            lines = found.setdefault(match[1], [])
        elif " = " in line:
            lines.append(line.strip())
    return found


def _called(line: str) -> list[str]:
    """Return the names of the computations that an instruction calls."""
    named = (names for _, names in CALL.findall(line))
    return [name for names in named for name in re.findall(r"%([^\s,]+)", names)]


def _with_product(computations: dict[str, list[str]]) -> set[str]:
    """Return the computations in which, or in what they call, is a matrix product."""
    found = {n for n, lines in computations.items() if any(map(PRODUCT.search, lines))}
    more = found
    while more:
        more = {
            name
            for name, lines in computations.items()
            if name not in found and any(found & {*_called(line)} for line in lines)
        }
        found |= more
    return found


def _operand(kind: str, result: str, start: bool, size: int) -> int:
    """Return the bytes of the operand, told from the shapes of the result.

    What starts a collective has the operands in its result: in a tuple of their own,
    or, without one, before the results of a gather or a permute:

        ((f32[8], f32[4]), (f32[64], f32[32])) all-gather-start(…)
        (f32[8], f32[8], u32[], u32[]) collective-permute-start(…)
    """
    if start and result.startswith("(("):
        return _bytes(result[: result.index("), ")])
    if start and kind in ("all-gather", "collective-permute"):
        shapes = [m[0] for m in SHAPE.finditer(result) if m[0] != "u32[]"]
        return sum(map(_bytes, shapes[: len(shapes) // 2]))
    grow = {"all-gather": 1 / size, "reduce-scatter": size}
    return round(_bytes(result) * grow.get(kind, 1))


def _bytes(shapes: str) -> int:
    """Return the bytes of all arrays in a text of shapes."""
    total = 0
    for _, bits, axes in SHAPE.findall(shapes):
        count = math.prod(int(n) for n in axes.split(",") if n)
        total += count * int(bits or 8) // 8
    return total


def _axes(rest: str) -> str | None:
    """Return the names of the axes communicated over; None where XLA made them up."""
    match = re.search(r"replica_groups=mesh\[.*?\{(.*?)\}", rest)
    names = re.findall(r"'(\w+)'", match[1]) if match else []
    if any(re.match(r"axis_\d", name) for name in names):
        return None
    return ", ".join(names) or None


def _groups(rest: str, devices: int) -> Groups:
    """Read groups written as sets, as an iota, or as axes of a mesh, in its order."""
    sets = re.search(r"(?:replica_groups|source_target_pairs)=\{([{}\d,]*)\}", rest)
    if sets:
        found = re.findall(r"\{([\d,]+)\}", sets[1])
        return tuple(map(_numbers, found)) or (tuple(range(devices)),)
    listed = re.search(r"replica_groups=(\[[\d,]+\])<=(\S+?)(?:, |$)", rest)
    if listed:
        ids, size = _iota(listed[2]), _numbers(listed[1])[1]
        return tuple(tuple(ids[k : k + size]) for k in range(0, len(ids), size))
    mesh = re.search(
        r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\((\S+)\))? \{([^}]*)\}", rest
    )
    if not mesh:
        raise ValueError(f"no groups of devices were found in {rest[:200]!r}")
    sizes = {name: int(n) for name, n in re.findall(r"'(\w+)'=(\d+)", mesh[1])}
    ids = _iota(mesh[2]) if mesh[2] else list(range(devices))
    return _along(ids, sizes, AXIS.findall(mesh[3]))


def _along(
    ids: list[int], sizes: dict[str, int], axes: list[tuple[str, str, str]]
) -> Groups:
    """Group the devices `ids` of a mesh along `axes`, over which they communicate.

    `ids` are in the order of the mesh, whose axes have the `sizes`.  An axis is its
    name, the size of what lies before its part, and the size of the part; both are
    empty where it is all of the axis.  With eight devices and sizes of 4 and 2:

        ("rows", "", "")     groups (0, 2, 4, 6) and (1, 3, 5, 7)
        ("rows", "2", "2")   the inner pair: (0, 2), (1, 3), (4, 6) and (5, 7)
    """
    strides, stride = {}, 1
    for name in reversed(sizes):
        strides[name] = stride
        stride *= sizes[name]
    steps = [0]  # the places of one group, from its first
    for name, before, part in axes:
        count = int(part or sizes[name])
        step = strides[name] * sizes[name] // (int(before or 1) * count)
        steps = [old + k * step for old in steps for k in range(count)]
    left, groups = set(range(len(ids))), []
    for first in range(len(ids)):
        if first in left:
            places = [first + step for step in steps]
            left -= set(places)
            groups.append(tuple(ids[place] for place in places))
    return tuple(groups)


def _iota(text: str) -> list[int]:
    """Return the numbers that [4,2]T(1,0) stands for: counted, then transposed."""
    import numpy as np

    shape, *order = map(_numbers, re.findall(r"[\d,]+", text))
    ids = np.arange(math.prod(shape)).reshape(shape)
    return ids.transpose(*order).ravel().tolist()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def _times(computations: dict[str, list[str]]) -> Callable[[str], int | None]:
    """Return a function from a computation's name to how often one run executes it."""
    callers: dict[str, tuple[str, int | None]] = {}
    for caller, lines in computations.items():
        for line in lines:
            trips = TRIPS.search(line)
            turns = int(trips[1]) if trips else None
            for role, names in CALL.findall(line):
                for name in re.findall(r"%([^\s,]+)", names):
                    callers[name] = caller, turns if role == "body" else 1

    def times(name: str) -> int | None:
        caller, count = callers.get(name, ("", 1))
        around = times(caller) if caller else 1
        return None if count is None or around is None else count * around

    return times
