"""What a compiler says of a lowered program: facts in JSON, and lines of its own text.

A number is the compiler's, for one device; what it does not say is left out. Lines are
lines of the compiled text, shortened and never reworded.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from book.compilers.hlo import collectives_of, lines_of, started_of

if TYPE_CHECKING:
    from jax.stages import Compiled, Lowered

# What asks the compilers, and what reads their answers.
SOURCES = [Path(__file__).with_name(f"{n}.py") for n in ("chips", "facts", "hlo")]
SHOWN = 3  # lines of the compiled text


def facts(lowered: Lowered) -> dict:
    """Compile a `jax.stages.Lowered`; return what the compiler says of one device.

    Bytes, floating-point operations where the compiler counts them, and for TPUs its
    own estimate of the seconds that one run computes. Where the program does not fit
    in memory, the compiler's message instead.
    """
    import jax

    start = time.perf_counter()
    try:
        compiled = lowered.compile()
    except jax.errors.JaxRuntimeError as error:
        if not str(error).startswith("RESOURCE_EXHAUSTED"):
            raise
        return {"does not fit": str(error).splitlines()[0]}
    seconds = time.perf_counter() - start
    return {
        "collectives": collectives(compiled),
        "overlapped": overlapped(compiled),
        **_memory(compiled),
        **_cost(compiled),
        "hlo": telling_lines(compiled),
        "compile seconds": round(seconds, 2),
    }


def collectives(compiled: Compiled) -> list[dict]:
    """List the collectives of a compiled program, equal ones as one with a count.

    `operand` is bytes that one device puts in; `groups` says how many groups of how
    many devices communicate; `axes` names the mesh axes where the compiler prints them.
    """
    found: Counter[tuple] = Counter()
    for one in collectives_of(compiled.as_text()):
        groups, size = len(one.groups), max(map(len, one.groups), default=1)
        pairs = f"{groups} pairs" if "permute" in one.kind else f"{groups} x {size}"
        found[one.kind, one.operand, pairs, one.axes, one.moved, one.times] += 1
    keys = "kind", "operand", "groups", "axes", "moved", "times"
    return [
        {**dict(zip(keys, values, strict=True)), "count": count}
        for values, count in found.items()
    ]


def overlapped(compiled: Compiled) -> dict[str, int]:
    """Count collectives that are started and awaited apart, and those beside work.

    Work is a matrix product between the start and the wait.
    """
    started = started_of(compiled.as_text())
    beside_work = [one for one in started if one.products]
    return {"started": len(started), "beside work": len(beside_work)}


def telling_lines(compiled: Compiled) -> list[str]:
    """Return at most three lines of the compiled text that say what is sent.

    Where a collective runs beside other work: the line that starts it, the work, and
    the line that waits for it. Else the first collectives.
    """
    text = compiled.as_text()
    started = started_of(text)
    if started:
        one = next((one for one in started if one.products), started[0])
        lines = [one.start, *one.products[:1], one.done]
    else:
        lines = lines_of(text)
    return [shortened(line) for line in lines[:SHOWN]]


def shortened(line: str) -> str:
    """Return a line of HLO without layouts, metadata and the compiler's own notes."""
    line = re.sub(r", (?:metadata|backend_config|frontend_attributes)=\{.*", "", line)
    line = re.sub(r"(?<=\])\{[^{}]*\}", "", line)  # the layout behind a shape
    line = re.sub(r", (?:channel_id=\d+|use_global_device_ids=true)", "", line)
    line = re.sub(r"/\*.*?\*/", "", line.removeprefix("ROOT "))
    if ", output_to_operand_aliasing=" in line:  # goes on with a collective: very long
        line = re.sub(r", output_to_operand_aliasing=\{.*\}(?=, calls=)", "", line)
        line = re.sub(r"(?<== \()(.{40}.*?\]), .*\)(?= fusion\()", r"\1, …)", line)
        line = re.sub(r"(?<= fusion\()(.{30}.*?), .*?\)", r"\1, …)", line)
    pairs = re.search(r"source_target_pairs=\{(.*?\}),(\{.*\})\}", line)
    if pairs and len(pairs[2]) > 24:
        line = line.replace(pairs[2], "…")
    return line.replace("%", "")


def digest(lowered: Lowered, program: Path) -> str:
    """Return what tells apart the facts of a `jax.stages.Lowered` of a program file.

    They may change with the code that was lowered, with the program, which may set how
    it is compiled, and with the files here that ask a compiler and read its answer.
    """
    texts = [path.read_text(encoding="utf-8") for path in (program, *SOURCES)]
    parts = "\0".join([lowered.as_text(), *texts])
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


def _memory(compiled: Compiled) -> dict[str, int]:
    """What a program needs of the memory of one device, in bytes."""
    memory = compiled.memory_analysis()
    return {
        "arguments": memory.argument_size_in_bytes,
        "outputs": memory.output_size_in_bytes,
        "aliased": memory.alias_size_in_bytes,
        "temporaries": memory.temp_size_in_bytes,
        "code": memory.generated_code_size_in_bytes,
    }


def _cost(compiled: Compiled) -> dict[str, float]:
    """What the compiler counts and estimates of one device; it may do neither."""
    cost, found = compiled.cost_analysis() or {}, {}
    for name in ("flops", "bytes accessed"):
        if cost.get(name, 0) > 0:
            found[name] = round(cost[name])
    if cost.get("optimal_seconds", 0) > 0:
        found["estimated seconds"] = float(f"{cost['optimal_seconds']:.3g}")
    return found
