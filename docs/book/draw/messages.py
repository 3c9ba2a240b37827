"""Paint who sends what to whom, step by step: devices are columns, time goes down.

Promise: an arrow is a send that was said, and a hue is the device that a number came
from. A number keeps its hue only where it was on this device before the step, or on one
that sends to it in the step; any other number was computed, and has no hue. The columns
may also be the examples of a batch on one device, as vmap has them.

    from book.draw.messages import messages
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    messages([("x", x), ("after ppermute", y, ring)], alt="Each sends to the next.")
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import jax
import numpy as np

from book.draw import svg as draw
from book.draw.moves import (
    DOWN,
    LETTER,
    all_held,
    computed_of,
    flat,
    pieces,
    shape_of,
    tokens,
    width_of,
)
from book.draw.svg import GAP, HEADING, LINE, PAD, WIDTH, Figure

MOST = 16  # numbers in the block of a column, and examples side by side
ROOM = 1.04 * WIDTH  # what a phone shows without scrolling
APART = 84  # from column to column where there are few of them
SHORT, STEEP, LEVEL = 33, 4, 9  # the height of arrows, more for a column, for a wrap
TALL, FOOT = 14, 11  # a heading: its line, and the room below it
SLIM, BROAD = " !\"'(),.:;[]fijlrt|", "mwMW@"  # of its letters, in a wide typeface
HEAD, HALF, SMALL = 6, 2.7, 5.6  # the head of an arrow; a letter at its middle
CROWD = 2  # with more sends than this for each device, arrows are thin


class Send(NamedTuple):
    """An arrow: from and to which column, and the words at its middle."""

    source: int
    target: int
    words: str = ""


class Row(NamedTuple):
    """An array: its heading, and how it came to be from the array before it."""

    label: str
    blocks: list[np.ndarray]  # of floats in two axes, one for each column
    sends: list[Send]
    owners: list[Owners]  # of each column
    computed: bool  # whether none of its numbers has a hue


Owners = Mapping[float, int]  # a number that was moved -> where it comes from
Box = tuple[float, float, float, float]  # left, top, width, height
Point = Sequence[float]  # x, y
Said = str | Iterable[Sequence]  # the sends of a row as `messages` takes them
Labels = Sequence[Sequence[str]]  # the lines above each column


def messages(
    items: Iterable[Sequence],
    alt: str,
    computed: str | Iterable[str] = (),
    columns: str = "device",
) -> Figure:
    """Paint `(label, array, sends)` rows: what each device holds, and who sent it.

    sends: pairs of positions (from, to), in the order of the mesh, or triples with a
    short text for the middle of the arrow; or "all": each device sends to each other
    one. The first row has none, and a later row without them has no arrows.
    computed: the labels of the rows whose numbers are all computed: none has a hue.
    columns: "device", or "example": then an array is from NumPy, or on one device, and
    its first axis counts the columns; the block of a column is what else it has.
    1-d blocks lie where all of them fit, and stand elsewhere. Raises ValueError when
    `alt` is blank, there are fewer than two rows, a block is empty, has three axes or
    over 16 numbers, the columns differ, or are over 16 examples, a send is from or to a
    position that is not there, or stands twice, `computed` names no later row, or a
    number can have come from two columns; TypeError when an array is not concrete, or
    not of real numbers.
    """
    if columns not in ("device", "example"):
        raise ValueError(f"columns are 'device' or 'example', not {columns!r}")
    alt, items = draw.described(alt), [_item(*item) for item in items]
    names = [label for label, *_ in items]
    computed = computed_of(computed, names)
    read = _on_devices if columns == "device" else _of_examples
    words, cuts, blocks = read([(label, x) for label, x, _ in items])
    if items[0][2]:
        raise ValueError(f"nothing is sent before the first row, {names[0]!r}")
    sends = [_sends(said, len(words), label) for label, _, said in items]
    owners = [_first(cuts, blocks[0])]
    for k, label in list(enumerate(names))[1:]:
        known: list[Owners] = [{}] * len(words)
        if label not in computed:
            known = _moved(label, blocks[k - 1 : k + 1], sends[k], owners[-1], words)
        owners.append(known)
    lying = _lying(blocks, words)
    rows = [
        Row(label, [flat(b, lying) for b in row], said, known, label in computed)
        for label, row, said, known in zip(names, blocks, sends, owners, strict=True)
    ]
    return Figure(alt, *_picture(rows, words))


def _item(
    label: str, x: jax.Array | np.ndarray, sends: Said = ()
) -> tuple[str, jax.Array | np.ndarray, Said]:
    """Return a row as it was said, with or without its sends."""
    return label, x, sends


def _on_devices(
    items: Sequence[tuple[str, jax.Array]],
) -> tuple[Labels, list[tuple], list[list[np.ndarray]]]:
    """Return the labels of each device, its piece of the first array, and the blocks.

    The blocks are those of each array, in the order of the mesh.
    """
    held, x = all_held(items, MOST), items[0][1]
    devices, words = zip(*draw.places_of(x.sharding)[0], strict=True)
    blocks = [[row[device] for device in devices] for row in held]
    return words, pieces(x, devices), blocks


def _of_examples(
    items: Sequence[tuple[str, jax.Array | np.ndarray]],
) -> tuple[Labels, list[int], list[list[np.ndarray]]]:
    """Return the same as `_on_devices` for examples: each is a piece of its own."""
    if len(items) < 2:
        raise ValueError("a picture of examples has two arrays or more")
    blocks = [_examples(label, x) for label, x in items]
    count = len(blocks[0])
    for (label, _), row in zip(items, blocks, strict=True):
        if len(row) != count:
            raise ValueError(
                f"{label!r} has {len(row)} examples, but {items[0][0]!r} has {count}"
            )
    return [[f"example {k}"] for k in range(count)], list(range(count)), blocks


def _examples(label: str, x: jax.Array | np.ndarray) -> list[np.ndarray]:
    """Return what each example has in an array: its first axis counts them."""
    if not isinstance(x, np.ndarray) and len(draw.concrete(x).sharding.device_set) > 1:
        raise ValueError(f"{label!r} is on several devices; examples are on one")
    if not x.ndim or not 1 <= len(x) <= MOST:
        raise ValueError(
            f"{label!r} has the shape {x.shape}, but its first axis counts the"
            f" examples, 1 to {MOST} of them"
        )
    shape = shape_of(x.shape[1:], x.dtype, MOST) or (1,)
    return list(np.asarray(x).astype(float).reshape(len(x), *shape))


def _sends(said: Said, count: int, label: str) -> list[Send]:
    """Return the sends of a step; raises ValueError where one cannot be."""
    if isinstance(said, str) and said != "all":
        raise ValueError(f"sends are pairs (from, to), or 'all', not {said!r}")
    if isinstance(said, str):
        return [Send(a, b) for a in range(count) for b in range(count) if a != b]
    sends = [Send(*one) for one in said]
    for send in sends:
        if not {send.source, send.target} <= set(range(count)):
            there = f"the positions are 0 to {count - 1}"
            raise ValueError(f"{label!r} has a send {tuple(send[:2])}, but {there}")
    twice = [pair for pair, n in Counter(s[:2] for s in sends).items() if n > 1]
    if twice:
        raise ValueError(f"{label!r} has these sends twice: {twice}")
    return sends


def _first(cuts: Sequence, blocks: Iterable[np.ndarray]) -> list[Owners]:
    """Return the owners of the first row: of equal pieces the first device is it."""
    return [
        dict.fromkeys(block.ravel().tolist(), cuts.index(cut))
        for cut, block in zip(cuts, blocks, strict=True)
    ]


def _moved(
    label: str,
    rows: Sequence[Sequence[np.ndarray]],
    sends: Iterable[Send],
    owners: Sequence[Owners],
    words: Labels,
) -> list[Owners]:
    """Return the owners in the second of two `rows` of blocks, from those in the first.

    A number was moved if it was here, or on a device that sends to here, with a hue.
    """
    before, after = rows
    moved: list[Owners] = []
    for place, block in enumerate(after):
        sources = {place} | {s.source for s in sends if s.target == place}
        known: dict[float, int] = {}
        for number in block.ravel().tolist():
            had = [k for k in sorted(sources) if number in before[k]]
            found = {owners[k].get(number) for k in had}  # None: it was computed
            if len(found) > 1:
                where = " and ".join(" ".join(words[k]) for k in had)
                raise ValueError(
                    f"the {number:g} on {' '.join(words[place])} in {label!r} has no"
                    f" hue of its own: {where} had a {number:g} that came from"
                    " elsewhere; fill the first array with distinct numbers, none a"
                    " sum of others, or name the row in computed"
                )
            for owner in found:
                if owner is not None:
                    known[number] = owner
        moved.append(known)
    return moved


def _lying(blocks: Sequence[Sequence[np.ndarray]], words: Labels) -> bool:
    """Return whether all the 1-d blocks have room on their side, without scrolling."""
    room = (ROOM + GAP) / len(words) - GAP - 2 * PAD + 4
    flats = [block for row in blocks for block in row if block.ndim == 1]
    across = width_of([block for row in blocks for block in row])
    return across * max((block.size for block in flats), default=0) <= room


def _picture(rows: Sequence[Row], words: Labels) -> tuple[str, float, float]:
    """Return the SVG of all rows, its width and its height."""
    count, across = len(words), width_of([b for row in rows for b in row.blocks])
    inside = across * max(row.blocks[0].shape[1] for row in rows) + 2 * PAD - 4
    longest = max(len(line) for lines in words for line in lines)
    said = max((len(s.words) for row in rows for s in row.sends), default=0)
    spare = min(4.8 * longest + 10, (ROOM + GAP) / count - GAP)
    wide = max(inside, 4.8 * longest + 4, SMALL * said - GAP, spare)
    apart = max(wide + GAP, min(APART, (ROOM + GAP) / count))
    right = (count - 1) * apart + wide
    bottom: float = 0
    body = ""
    for number, row in enumerate(rows):
        lines = textwrap.wrap(row.label, int(max(right, ROOM) / LETTER)) or [""]
        wraps = _wraps(row.sends, count)
        land = bottom + (_height(row.sends, wraps) if number else 0)
        top = land + TALL * len(lines) + (FOOT if row.sends else PAD)
        painted, boxes = "", []
        for k, line in enumerate(lines, 1):
            painted += draw.text(0, land + TALL * k - 3, line, HEADING)
            boxes.append((-3, land + TALL * (k - 1), _length(line) + 6, TALL + 1))
            right = max(right, LETTER * len(line))
        columns = [k * apart for k in range(count)]
        painted += _arrows(row.sends, wraps, columns, wide, (bottom, land, top), boxes)
        labels = words if number == 0 else [[]] * count
        size = DOWN * len(row.blocks[0]) + LINE * len(labels[0]) + 2 * PAD - 2
        for k, block in enumerate(row.blocks):
            x, y = (wide - across * block.shape[1]) / 2, size - PAD + 1
            held = tokens(block, across, row.owners[k], computed=row.computed)
            frame = draw.outline(labels[k], wide, size)
            frame += draw.group("block", x, y - DOWN * len(block), held)
            painted += draw.group("device", columns[k], top, frame)
        body += f'<g class="row">{painted}</g>'
        bottom = top + size
    return body, right, bottom


def _length(heading: str) -> float:
    """Return how long a line of a heading is at the most."""
    slim, broad = (sum(map(heading.count, letters)) for letters in (SLIM, BROAD))
    return 4.8 * slim + 12 * broad + 8.4 * (len(heading) - slim - broad)


def _wraps(sends: Sequence[Send], count: int) -> list[Send]:
    """Return the sends that lead around the end, where most go as far without it.

    The first of them runs highest; so they do not cross each other.
    """
    if len(sends) > CROWD * count:
        return []
    ways = Counter(((s.target - s.source) % count, s.source < s.target) for s in sends)
    wraps = []
    for send in sends:
        way, rises = (send.target - send.source) % count, send.source < send.target
        if ways[way, rises] < ways[way, not rises]:
            wraps.append(send)
    return sorted(wraps, key=lambda s: s.source if s.target < s.source else -s.source)


def _height(sends: Sequence[Send], wraps: Sequence[Send]) -> float:
    """Return how tall the arrows of a step are, down to the heading below them."""
    if not sends:
        return GAP
    spans = [abs(s.target - s.source) for s in sends if s not in wraps]
    words = DOWN / 2 if any(send.words for send in sends) else 0
    return SHORT + STEEP * max(spans, default=0) + LEVEL * len(wraps) + words


def _arrows(
    sends: Sequence[Send],
    wraps: Sequence[Send],
    columns: Sequence[float],
    wide: float,
    heights: tuple[float, float, float],
    boxes: Iterable[Box],
) -> str:
    """Return the SVG of the arrows of a step, broken where `boxes` of words stand.

    heights: of the frames above, of what is above the heading, of the frames below.
    """
    start, land, end = heights
    leave, arrive = (_ports(sends, wraps, columns, wide, side) for side in (0, 1))
    thin = len(sends) > CROWD * len(columns)
    paths = []
    for send in sends:
        x0, x1, turns = leave[send], arrive[send], [(arrive[send], land - 4)]
        if send in wraps:
            y = start + LEVEL * (wraps.index(send) + 1)
            turns = [(x0, y), (x1, y)]
        paths.append([(x0, start + 1), *turns, (x1, end - 1)])
    boxes, said, body = list(boxes), "", ""
    for send, path in zip(sends, paths, strict=True):
        if send.words:
            crossed = any(s[:2] == (send.target, send.source) for s in sends)
            long = SMALL * len(send.words) + 4
            x, y, across, tall = _room(path[-3:-1], long, crossed, boxes)
            boxes.append((x, y, across, tall))
            middle = x + across / 2, y + tall / 2 + 3.6
            said += draw.text(*middle, send.words, 'class="said"')
    for path in paths:
        body += _arrow(path, boxes, thin)
    return body + said


def _ports(
    sends: Iterable[Send],
    wraps: Sequence[Send],
    columns: Sequence[float],
    wide: float,
    side: int,
) -> dict[Send, float]:
    """Return where each send leaves a frame (side 0) or arrives at one (side 1)."""
    ports = {}

    def order(send: Send) -> int:
        other = send.source if side else send.target
        if side and send in wraps:  # at the outer side, where no other arrow comes
            return -len(columns) if send.target < send.source else 2 * len(columns)
        return other

    for place, left in enumerate(columns):
        here = sorted((s for s in sends if s[side] == place), key=order)
        for k, send in enumerate(here, 1):
            ports[send] = left + wide * k / (len(here) + 1)
    return ports


def _room(
    ends: Sequence[Point], across: float, crossed: bool, boxes: Iterable[Box]
) -> Box:
    """Return a box for words on the line between `ends`, free of other `boxes`.

    It is at the middle, where this is free and the line is not `crossed` there.
    """
    (x0, y0), (x1, y1) = ends
    tried = []
    for part in (0.25, 0.75, 0.5) if crossed else (0.5, 0.35, 0.65, 0.25, 0.75):
        x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
        tried.append((x - across / 2, y - 6, across, 12))
        if not any(_meet(tried[-1], other) for other in boxes):
            return tried[-1]
    return tried[0]


def _meet(one: Box, other: Box) -> bool:
    """Return whether two boxes (x, y, width, height) overlap."""
    return all(
        one[k] < other[k] + other[k + 2] and other[k] < one[k] + one[k + 2]
        for k in (0, 1)
    )


def _arrow(path: Sequence[Point], boxes: Sequence[Box], thin: bool) -> str:
    """Return the SVG of one arrow: what of its lines no box covers, and its head."""
    x, y = path[-1]
    size = 0.7 if thin else 1
    base = y - size * HEAD
    line = ""
    for ends in pairwise([*path[:-1], (x, base)]):
        for (x0, y0), (x1, y1) in _seen(*ends, boxes):
            joined = line.endswith(f"L{x0:.1f} {y0:.1f}")
            line += "" if joined else f"M{x0:.1f} {y0:.1f}"
            line += f"L{x1:.1f} {y1:.1f}"
    look = 'stroke-width=".7" stroke-opacity=".4"' if thin else 'stroke-opacity=".7"'
    look += ' fill="none" stroke="currentColor" stroke-linejoin="round"'
    head = f"M{x:.1f} {y:g}L{x - size * HALF:.1f} {base:g}h{2 * size * HALF:.1f}Z"
    head = f'<path class="head" d="{head}" fill-opacity=".85"/>'
    return f'<g class="send"><path d="{line}" {look}/>{head}</g>'


def _seen(start: Point, stop: Point, boxes: Iterable[Box]) -> list[tuple[Point, Point]]:
    """Return the parts of the line from `start` to `stop` that are in no box."""
    hidden = []
    for x, y, wide, tall in boxes:
        first, last = 0.0, 1.0
        for a, b, low, size in zip(start, stop, (x, y), (wide, tall), strict=True):
            if a == b:
                first, last = (first, last) if low < a < low + size else (1.0, 0.0)
            else:
                ends = sorted((edge - a) / (b - a) for edge in (low, low + size))
                first, last = max(first, ends[0]), min(last, ends[1])
        if first < last:
            hidden.append((first, last))
    parts: list[tuple[Point, Point]] = []
    at = 0.0
    for first, last in [*sorted(hidden), (1.0, 1.0)]:
        if first > at:
            one, other = (
                [a + t * (b - a) for a, b in zip(start, stop, strict=True)]
                for t in (at, first)
            )
            parts.append((one, other))
        at = max(at, last)
    return parts
