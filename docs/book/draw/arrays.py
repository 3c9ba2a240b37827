"""Paint who holds what, from the arrays themselves.

Promise: nothing in a picture is drawn by hand. A frame is a device, the outline in it
is the whole array, the fill is the piece that this device holds, and colour and letter
name the data: same letter, same data. Frames stand as the mesh stands. The pieces of an
array that is named as computed have neither: their numbers were in no array above.

    from book.draw.arrays import shards
    shards(x, alt="Eight devices, each with one row of x.")
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import jax

from book.draw import svg as draw
from book.draw.moves import HEAD, LETTER, named
from book.draw.svg import GAP, HEADING, INK, LINE, LONGEST, MOST, PAD, WIDTH, Figure

BLOCK = 64  # the longest axis of what is painted as blocks
Span = tuple[int, int]  # first and last + 1, along one axis


class Frame(NamedTuple):
    """What one device shows: its labels, its piece of the array, and its values."""

    labels: list[str]  # one for each mesh axis, such as "rows 3"
    piece: tuple[
        Span, Span
    ]  # ((first row, last row + 1), (first column, last column + 1))
    number: int | None  # of the piece among all pieces: its hue and its letter
    values: list[str] | None  # one text for each element, row by row

    @property
    def foot(self) -> str:
        """The letter of the piece, and its shape where no values are painted."""
        (top, bottom), (left, right) = self.piece
        if self.number is None:
            return "" if self.values else f"({bottom - top}, {right - left})"
        letter = chr(ord("A") + self.number % 26) + "\N{PRIME}" * (self.number // 26)
        return letter + ("" if self.values else f" ({bottom - top}, {right - left})")


def shards(x: jax.Array, alt: str, title: str | None = None) -> Figure:
    """Paint which device holds which piece of `x`, a `jax.Array` of any sharding.

    Up to 64 elements the values are painted, beyond that the shape of each piece.
    A 1-d array stands as a column. Raises ValueError when `alt` is blank, or `x` is
    empty or has three axes longer than one; TypeError when `x` is no concrete array.
    """
    return strip([(title, x)], alt)


def strip(
    items: Iterable[tuple[str | None, jax.Array]],
    alt: str,
    width: float = WIDTH,
    computed: str | Iterable[str] = (),
) -> Figure:
    """Paint `(label, array)` panels, one below the other and to the same scale.

    computed: the labels of arrays that were computed from others: none of their pieces
    has a hue. The values are painted when all the arrays are small; raises as `shards`
    does, and ValueError when `computed` names no panel.
    """
    alt, items = draw.described(alt), list(items)
    computed = named("computed", computed, [label for label, _ in items])
    shapes = [_shape(x) for _, x in items]
    longest = max(map(max, shapes))
    small = longest <= LONGEST and max(map(math.prod, shapes)) <= MOST
    unit = None if small else BLOCK / longest
    body = ""
    right: float = 0
    bottom: float = 0
    for label, x in items:
        bottom += 2 * GAP if body else 0
        frames, wide, tall = _panel(x, width, unit, label in computed)
        lines = textwrap.wrap(label or "", int(max(wide, WIDTH) / LETTER))
        heading, top = "", HEAD + LINE * (len(lines) - 1) if lines else 0
        for k, line in enumerate(lines):
            heading += draw.text(0, 11 + LINE * k, line, HEADING)
            wide = max(wide, LETTER * len(line))
        body += draw.group(
            "panel", 0, bottom, heading + draw.group("mesh", 0, top, frames)
        )
        right, bottom = max(right, wide), bottom + top + tall
    return Figure(alt, body, right, bottom)


def _panel(
    x: jax.Array, width: float, unit: float | None, computed: bool
) -> tuple[str, float, float]:
    """Return the SVG of one array on its mesh, and the width and height it takes.

    `unit` is the length of one element of a block; None paints the values.
    computed: whether its pieces have no hue.
    """
    shape = _shape(x)
    places, columns = draw.places_of(x.sharding)
    frames = _frames(x, places, painted=unit is None)
    if computed:
        frames = [frame._replace(number=None) for frame in frames]
    values = [len(value) for frame in frames for value in frame.values or []]
    cell: tuple[float, float]
    if values:
        cell = max(16, 6 * max(values) + 6), 16
    else:
        rows, across = (max(12, (unit or 8) * n) / n for n in shape)
        cell = across, rows
    words = [word for frame in frames for word in (*frame.labels, frame.foot)]
    wide = max(cell[0] * shape[1], 4.8 * max(map(len, words))) + 2 * PAD
    tall = cell[1] * shape[0] + LINE * (len(frames[0].labels) + 1) + PAD
    if columns is None:
        columns = draw.wrapped(len(frames), wide, width)
    body = ""
    for k, frame in enumerate(frames):
        x0, y0 = k % columns * (wide + GAP), k // columns * (tall + GAP)
        body += draw.group("device", x0, y0, _paint(frame, shape, cell, wide, tall))
    return body, columns * (wide + GAP) - GAP, y0 + tall


def _frames(
    x: jax.Array, places: list[tuple[jax.Device, list[str]]], painted: bool
) -> list[Frame]:
    """Return a frame for each (device, labels) of `places`."""
    indices = x.sharding.devices_indices_map(x.shape).items()
    pieces = {device: _bounds(index, x.shape) for device, index in indices}
    numbers = {piece: k for k, piece in enumerate(sorted(set(pieces.values())))}
    data = x.addressable_shards if painted else ()
    held = {shard.device: draw.texts_of(shard.data) for shard in data}
    return [
        Frame(labels, pieces[device], numbers[pieces[device]], held.get(device))
        for device, labels in places
    ]


def _shape(x: jax.Array) -> tuple[int, int]:
    """Return the shape of `x` in two axes; raises what `shards` promises to raise."""
    if draw.concrete(x).size == 0 or sum(n > 1 for n in x.shape) > 2:
        raise ValueError(f"a figure shows one or two axes longer than 1: {x.shape}")
    (_, rows), (_, columns) = _bounds([slice(None)] * x.ndim, x.shape)
    return rows, columns


def _bounds(index: Sequence[slice], shape: Sequence[int]) -> tuple[Span, Span]:
    """Return an index of slices as (start, stop) in two axes; a vector is a column."""
    axes = [s.indices(n)[:2] for s, n in zip(index, shape, strict=True)]
    if len(axes) > 2:
        axes = [axis for axis, n in zip(axes, shape, strict=True) if n > 1]
    rows, columns = axes + [(0, 1)] * (2 - len(axes))
    return rows, columns


def _paint(
    frame: Frame,
    shape: tuple[int, int],
    cell: tuple[float, float],
    wide: float,
    tall: float,
) -> str:
    """Return the SVG of one frame that is `wide` and `tall`, with cells of one size."""
    (top, bottom), (left, right) = frame.piece
    across, down = cell
    x0, y0 = (wide - across * shape[1]) / 2, LINE * len(frame.labels) + PAD - 2
    body = draw.outline(frame.labels, wide, tall)
    whole = across * shape[1], down * shape[0]
    body += draw.rect("whole", x0, y0, *whole, 'fill="none" stroke-opacity=".4"')
    if frame.values:
        body += _lines(x0, y0, shape, cell)
    if frame.number is None:
        hue, opacity, ink = "none", ".8", 'font-weight="700"'
    else:
        hue, opacity, ink = draw.fill(frame.number), ".4", f'fill="{INK}"'
    look = f'rx="2" stroke-opacity="{opacity}" fill="{hue}"'
    place = x0 + across * left, y0 + down * top
    body += draw.rect(
        "piece", *place, across * (right - left), down * (bottom - top), look
    )
    for k, value in enumerate(frame.values or []):
        row, column = divmod(k, right - left)
        at = place[0] + across * (column + 0.5), place[1] + down * (row + 0.5) + 3.6
        body += draw.text(*at, value, f'class="value" {ink}')
    if frame.foot:
        body += draw.text(wide / 2, tall - 5, frame.foot, 'class="letter"')
    return body


def _lines(
    x0: float, y0: float, shape: tuple[int, int], cell: tuple[float, float]
) -> str:
    """Return hairlines between the elements of the whole array."""
    wide, tall = cell[0] * shape[1], cell[1] * shape[0]
    lines = [f"M{x0:g} {y0 + cell[1] * k:g}h{wide:g}" for k in range(1, shape[0])]
    lines += [f"M{x0 + cell[0] * k:g} {y0:g}v{tall:g}" for k in range(1, shape[1])]
    stroke = 'stroke="currentColor" stroke-width=".5" stroke-opacity=".2"'
    path = "".join(lines)
    return f'<path d="{path}" {stroke}/>'
