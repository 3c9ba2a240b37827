"""Paint what travels: the blocks that devices hold before and after they communicate.

Promise: colour is the data. A number has the hue of the device that held it in the
first array, wherever it is later; a number that was nowhere in it is a sum, and bold.
In a panel that is named as computed no number has a hue, whatever it is equal to.
Hatching marks sums that lack terms. A 0 that nobody held is faint: nothing came.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from book.draw import svg as draw
from book.draw.svg import GAP, HEADING, INK, LINE, LONGEST, MOST, PAD, WIDTH, Figure

ROOM = 1.1 * WIDTH  # what a phone shows without scrolling
HEAD, LETTER = 20, 7.4  # the height of a heading, and the width of its letters
HIGH = 4  # 1-d blocks up to this length always stand as columns
DOWN, HATCH = 16, 5.5  # the height of a number; from line to line of the hatching


class Panel(NamedTuple):
    """One array: its heading, and its block on each device in the order of the mesh."""

    label: str
    blocks: list[np.ndarray]  # of floats, in two axes
    partial: bool  # whether its sums lack terms
    computed: bool  # whether none of its numbers came from the first array


def before_after(
    x: jax.Array,
    y: jax.Array,
    alt: str,
    labels: Sequence[str] = ("before", "after"),
    partial: str | Iterable[str] = (),
    computed: str | Iterable[str] = (),
) -> Figure:
    """Paint the block of `x` and the block of `y` on each device: what went where.

    Fill `x` with whole numbers, no two alike, none 0 and none a sum of others:
    1, 2, 3 for what moves, 1, 10, 100 for what is added. Raises as `steps`.
    """
    return steps(zip(labels, (x, y), strict=True), alt, partial, computed)


def steps(
    items: Iterable[tuple[str, jax.Array]],
    alt: str,
    partial: str | Iterable[str] = (),
    computed: str | Iterable[str] = (),
) -> Figure:
    """Paint `(label, array)` panels: what each device holds after each step.

    partial: the labels of the panels whose sums lack terms.
    computed: the labels of the panels whose numbers are all computed: none has a hue,
    though an equal one may stand in the first array.
    Frames stand as the mesh of the first array; panels of a grid of devices stand side
    by side where they fit. 1-d blocks are columns; where one is longer than four, all
    lie on their side if the picture gets lower by it. Raises ValueError when `alt` is
    blank, there are fewer than two arrays, a block is empty, has three axes or too many
    numbers, the devices differ, two pieces begin with the same number, `partial` or
    `computed` names no panel, or `computed` the first; TypeError when an array is not
    concrete, or not of real numbers.
    """
    alt, items = draw.described(alt), list(items)
    names = [label for label, _ in items]
    partial, computed = named("partial", partial, names), computed_of(computed, names)
    held = all_held(items)
    places, columns = draw.places_of(items[0][1].sharding)
    devices, labels = zip(*places, strict=True)
    owners = _owners(items[0][1], devices, held[0])
    sizes = [b.size for blocks in held for b in blocks.values() if b.ndim == 1]
    ways = (False, True) if max(sizes, default=0) > HIGH else (False,)
    pictures = []
    for lying, aligned in product(ways, (True, False)):
        panels = [
            Panel(
                name,
                [flat(blocks[d], lying) for d in devices],
                name in partial,
                name in computed,
            )
            for name, blocks in zip(names, held, strict=True)
        ]
        pictures.append(_picture(panels, labels, columns, owners, aligned))
    best = min(pictures, key=lambda picture: (max(picture[1], ROOM), picture[2]))
    return Figure(alt, *best)


def named(
    keyword: str, labels: str | Iterable[str], names: Sequence[str | None]
) -> list[str]:
    """Return `labels`, one or several, as a list.

    Raises ValueError, which names the argument `keyword`, unless all are `names`.
    """
    labels = [labels] if isinstance(labels, str) else list(labels)
    if odd := [label for label in labels if label not in names]:
        raise ValueError(f"{keyword} has {odd}, but the panels are called {names}")
    return labels


def computed_of(labels: str | Iterable[str], names: Sequence[str]) -> list[str]:
    """Return the labels of what was computed.

    Raises ValueError where one of them is none of `names`, or the first.
    """
    labels = named("computed", labels, names)
    if names and names[0] in labels:
        raise ValueError(f"{names[0]!r} is not computed: hues begin in the first array")
    return labels


def all_held(
    items: Sequence[tuple[str, jax.Array]], most: int = MOST
) -> list[dict[jax.Device, np.ndarray]]:
    """Return the block of each device for each of the (label, array) `items`.

    Raises ValueError where these cannot be steps of a move, or a block has over `most`
    numbers; TypeError where an array is not concrete, or not of real numbers.
    """
    names = [label for label, _ in items]
    if len(items) < 2:
        raise ValueError("a move has two arrays or more; paint one array with shards")
    held = [_held(x, most) for _, x in items]
    for label, blocks in zip(names, held, strict=True):
        if set(blocks) != set(held[0]):
            where = f"the {len(held[0])} devices of {names[0]!r}; put both on one mesh"
            raise ValueError(f"{label!r} is not on {where} with jax.device_put")
    return held


def _held(x: jax.Array, most: int) -> dict[jax.Device, np.ndarray]:
    """Return the block of each device as floats, in as few axes as it needs."""
    block = draw.concrete(x).sharding.shard_shape(x.shape)
    shape = shape_of(block, x.dtype, most)
    shards = x.addressable_shards
    return {s.device: np.asarray(s.data).astype(float).reshape(shape) for s in shards}


def shape_of(block: tuple[int, ...], dtype: Any, most: int) -> tuple[int, ...]:
    """Return the shape, of at most two axes, in which a block is painted.

    Raises TypeError where its numbers are not real; ValueError where it has three axes
    longer than 1, or no numbers, or over `most`.
    """
    real = jnp.bool_, jnp.integer, jnp.floating
    if not any(jnp.issubdtype(dtype, kind) for kind in real):
        raise TypeError(f"a move is painted from real numbers, not from {dtype}")
    shape = block if len(block) < 3 else tuple(n for n in block if n > 1)
    if len(shape) > 2 or 0 in shape:
        raise ValueError(f"a move shows blocks with one or two axes, not {block}")
    if math.prod(shape) > most or max(shape, default=1) > LONGEST:
        limit = f"{most} numbers, {LONGEST} along an axis"
        raise ValueError(f"a block {block} is too large to paint; the most is {limit}")
    return shape


def pieces(x: jax.Array, devices: Iterable[jax.Device]) -> list[tuple]:
    """Return which piece of `x` each of `devices` has: equal pieces are the same."""
    indices = x.sharding.devices_indices_map(x.shape)
    cuts = [zip(indices[device], x.shape, strict=True) for device in devices]
    return [tuple(part.indices(length) for part, length in cut) for cut in cuts]


def _owners(
    x: jax.Array, devices: Sequence[jax.Device], held: Mapping[jax.Device, np.ndarray]
) -> dict[float, int]:
    """Return where in `devices` each number of `x` is held first.

    Raises ValueError where a number is in two pieces.
    """
    owners: dict[float, int] = {}
    begins: dict[float, tuple] = {}
    for place, piece in enumerate(pieces(x, devices)):
        for number in held[devices[place]].ravel().tolist():
            owners.setdefault(number, place)
            if begins.setdefault(number, piece) != piece:
                raise ValueError(
                    f"{number:g} begins in two pieces of the first array, so it can"
                    " have no hue of its own; fill it with distinct whole numbers"
                )
    return owners


def flat(block: np.ndarray, lying: bool) -> np.ndarray:
    """Return a block in two axes: a 1-d block stands, unless it is `lying`."""
    if block.ndim == 2:
        return block
    return block.reshape(1, -1) if lying else block.reshape(-1, 1)


def _picture(
    panels: Sequence[Panel],
    labels: Sequence[Sequence[str]],
    columns: int | None,
    owners: Mapping[float, int],
    aligned: bool,
) -> tuple[str, float, float]:
    """Return the SVG of all panels, its width and its height.

    aligned: whether the frames of all panels are equally wide.
    """
    blocks = [block for panel in panels for block in panel.blocks]
    across = width_of(blocks)
    least = 4.8 * max(len(words) for lines in labels for words in lines)
    wide = [max(least, across * p.blocks[0].shape[1]) + 2 * PAD for p in panels]
    body = ""
    right: float = 0
    bottom: float = -2 * GAP
    for line in _lines(panels, [max(wide)] * len(wide) if aligned else wide, columns):
        top, rows = bottom + 2 * GAP, max(len(panel.blocks[0]) for panel, *_ in line)
        size = LINE * len(labels[0]) + DOWN * rows + 2 * PAD - 2
        for panel, frame, along, left, end in line:
            frames = ""
            for k, (block, words) in enumerate(zip(panel.blocks, labels, strict=True)):
                known = {} if panel.computed else owners
                inside = tokens(block, across, known, panel.partial, panel.computed)
                x = (frame - across * block.shape[1]) / 2
                y = size - PAD - DOWN * (rows + len(block)) / 2
                inside = draw.outline(words, frame, size) + draw.group(
                    "block", x, y, inside
                )
                at = k % along * (frame + GAP), k // along * (size + GAP)
                frames += draw.group("device", *at, inside)
            heading = draw.text(0, 11, panel.label, HEADING)
            mesh = draw.group("mesh", 0, HEAD, frames)
            body += draw.group("panel", left, top, heading + mesh)
            right, bottom = max(right, end), top + HEAD + at[1] + size
    return body, right, bottom


def _lines(
    panels: Sequence[Panel], wide: Sequence[float], columns: int | None
) -> list[list[tuple[Panel, float, int, float, float]]]:
    """Return lines of (panel, width of a frame, frames on a line, left, right)."""
    lines: list[list[tuple[Panel, float, int, float, float]]] = []
    right = ROOM
    for panel, frame in zip(panels, wide, strict=True):
        along = columns or draw.wrapped(len(panel.blocks), frame, ROOM)
        length = max(LETTER * len(panel.label), along * (frame + GAP) - GAP)
        left = right + 3 * GAP
        if columns is None or left + length > ROOM:  # only grids stand side by side
            lines, left = [*lines, []], 0
        right = left + length
        lines[-1].append((panel, frame, along, left, right))
    return lines


def width_of(blocks: Iterable[np.ndarray]) -> int:
    """Return the width of a token in which each number of `blocks` has room."""
    longest = max(len(text) for block in blocks for text in draw.texts_of(block) or [])
    return max(16, 6 * longest + 6, 7 * longest + 3)  # for bold in a wide typeface


def tokens(
    block: np.ndarray,
    across: float,
    owners: Mapping[float, int],
    partial: bool = False,
    computed: bool = False,
) -> str:
    """Return the SVG of one block: a token for each number, its colour and hatching.

    owners: where each number that came from the first array was held there.
    computed: whether a 0 is a result; else it says that nothing came.
    """
    body, numbers = "", ""
    texts = iter(draw.texts_of(block) or [])
    for (row, column), number in np.ndenumerate(block):
        x, y = across * column, DOWN * row
        if number in owners:
            kind = "held"
        elif number or computed:
            kind = "sum"
        else:
            kind = "nothing"
        hue = draw.fill(owners[number]) if kind == "held" else "none"
        faint = 'stroke-dasharray="1 2" stroke-opacity=".3"'
        line = faint if kind == "nothing" else 'stroke-opacity=".5"'
        place = x + 0.75, y + 0.75, across - 1.5, DOWN - 1.5
        body += draw.rect(kind, *place, f'rx="2.5" fill="{hue}" {line}')
        if partial and kind != "nothing":
            body += _hatching(*place, INK if kind == "held" else "currentColor")
        looks = {
            "held": f'fill="{INK}"',
            "sum": 'font-weight="700"',
            "nothing": 'fill-opacity=".55"',
        }
        at = x + across / 2, y + DOWN / 2 + 3.6
        numbers += draw.text(*at, next(texts), f'class="value" {looks[kind]}')
    return body + numbers


def _hatching(x: float, y: float, wide: float, tall: float, colour: str) -> str:
    """Return diagonals across a rectangle, on one grid for all: x + y is a multiple."""
    path = ""
    first, last = math.ceil((x + y + 1) / HATCH), (x + y + wide + tall - 1) / HATCH
    for k in range(first, int(last) + 1):
        c = k * HATCH - x - y
        x1, x2 = min(c, wide), max(c - tall, 0)
        path += f"M{x + x1:g} {y + c - x1:g}L{x + x2:g} {y + c - x2:g}"
    return f'<path class="hatch" d="{path}" stroke="{colour}" stroke-opacity=".3"/>'
