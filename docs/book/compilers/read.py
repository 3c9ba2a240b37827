"""Tell what a compiled program sends, in a few facts and a few lines of its own text.

Promise: every collective of the compiled text is counted, and the lines shown are lines
of it, shortened and never reworded.
"""

from __future__ import annotations

import re
from collections import Counter

from book.compilers.hlo import LINE, collectives_of

WORK = re.compile(r"(convolution|dot|matmul|gemm)")
SHOWN = 3  # lines of the compiled text


def collectives(compiled) -> list[dict]:
    """List the collectives of a `jax.stages.Compiled`, equal ones as one with a count.

    `operand` is bytes that one device puts in; `groups` says how many groups of how
    many devices talk; `axes` names the mesh axes where the compiler prints them.
    """
    found = Counter()
    for one in collectives_of(compiled.as_text()):
        groups, size = len(one.groups), max(map(len, one.groups), default=1)
        pairs = f"{groups} pairs" if "permute" in one.kind else f"{groups} x {size}"
        found[one.kind, one.operand, pairs, one.axes, one.moved, one.times] += 1
    keys = "kind", "operand", "groups", "axes", "moved", "times"
    return [
        {**dict(zip(keys, values, strict=True)), "count": count}
        for values, count in found.items()
    ]


def telling(compiled) -> list[str]:
    """Return at most three lines of the compiled text that say what is sent.

    Where a collective runs beside other work: the line that starts it, the work, and
    the line that waits for it. Else the first collectives.
    """
    lines, pairs = _pairs(compiled)
    with_work = [pair for pair in pairs if len(pair) > 2]
    chosen = (with_work or pairs or [[line for line in lines if LINE.search(line)]])[0]
    return [shortened(line) for line in chosen[:SHOWN]]


def overlapped(compiled) -> dict[str, int]:
    """Count collectives that are started and awaited apart, and those beside work.

    Work is a matrix product, or a fusion of one, between the start and the wait.
    """
    _, pairs = _pairs(compiled)
    return {"started": len(pairs), "beside work": sum(len(p) > 2 for p in pairs)}


def _pairs(compiled) -> tuple[list[str], list[list[str]]]:
    """Return the lines of the text, and `_beside` of each that starts a collective."""
    lines = [line.strip() for line in compiled.as_text().splitlines()]
    return lines, [pair for line in lines if (pair := _beside(line, lines))]


def _beside(line: str, lines: list[str]) -> list[str]:
    """Return start, work and wait of the collective that `line` starts, if it does."""
    match = LINE.search(line)
    if not match or not match[3]:
        return []
    name = re.match(r"(?:ROOT )?(%\S+)", line)[1]
    wait = re.compile(rf"{match[2]}-done\({re.escape(name)}[,)]")
    start = lines.index(line)
    for at in range(start + 1, len(lines)):
        if wait.search(lines[at]):
            between = [x for x in lines[start + 1 : at] if WORK.search(x)]
            return [line, *between[:1], lines[at]]
    return []


def shortened(line: str) -> str:
    """Return a line of HLO without layouts, metadata and the compiler's own notes."""
    line = re.sub(r", (?:metadata|backend_config|frontend_attributes)=\{.*", "", line)
    line = re.sub(r"(?<=\])\{[^{}]*\}", "", line)  # the layout behind a shape
    line = re.sub(r", (?:channel_id=\d+|use_global_device_ids=true)", "", line)
    line = re.sub(r"/\*.*?\*/", "", line.removeprefix("ROOT "))
    pairs = re.search(r"source_target_pairs=\{(.*?\}),(\{.*\})\}", line)
    if pairs and len(pairs[2]) > 24:
        line = line.replace(pairs[2], "…")
    return line.replace("%", "")
