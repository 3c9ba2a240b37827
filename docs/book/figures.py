"""Paint who holds what, from the arrays themselves.

Promise: nothing in a picture is drawn by hand. A frame is a device, the outline in it
is the whole array, the fill is the piece that this device holds, and colour and letter
name the data: same letter, same data. Frames stand as the mesh stands.

    from book.figures import shards
    shards(x, alt="Eight devices, each with one row of x.")
"""

import hashlib
import math
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

# Paul Tol's "light" scheme: fills to write on, told apart by every eye.
HUES = (
    *("#77aadd", "#ee8866", "#eedd88", "#ffaabb"),
    *("#99ddff", "#44bb99", "#bbcc33", "#dddddd"),
)
INK = "#16181d"  # the values: dark on every hue, on light and on dark pages
WIDTH = 384  # where a mesh of one axis wraps; one unit is about a pixel on a phone
MOST, LONGEST = 64, 16  # with more elements, or a longer axis, no values are painted
BLOCK = 64  # the longest axis of what is painted as blocks
GAP, PAD, LINE = 8, 6, 13
HEADING = 'text-anchor="start" font-size="12" font-weight="600"'
LABEL = 'font-size="10.5" font-variant="all-small-caps" letter-spacing=".4"'
STANDALONE = (
    "<style>svg{color:#1f2328}"
    "@media (prefers-color-scheme:dark){svg{color:#e6edf3}}</style>"
)


@dataclass(frozen=True, repr=False)
class Figure:
    """A painted picture: `body` is SVG, `alt` says in one sentence what is seen."""

    alt: str
    body: str
    width: float
    height: float

    def __repr__(self):
        return self.alt

    def _repr_html_(self):
        style = f"width:100%;max-width:{1.4 * self.width:.0f}px"
        if self.width > 1.1 * WIDTH:  # scrolled on a phone, not shrunk
            style += f";min-width:{0.8 * self.width:.0f}px"
        picture = self._svg(f'style="{style}"')
        frame = 'class="painted" style="margin-inline:0;overflow-x:auto"'
        return f"<figure {frame}>{picture}</figure>"

    def standalone(self):
        """Return the text of an SVG file: an `<img>` for light and dark pages."""
        namespace = 'xmlns="http://www.w3.org/2000/svg"'
        text = self._svg(f'{namespace} width="{1.4 * self.width:.0f}"', STANDALONE)
        for number, hue in enumerate(HUES, 1):
            text = text.replace(f"var(--hue-{number}, {hue})", hue)
        return text + "\n"

    def _svg(self, attributes, style=""):
        name = hashlib.sha256((self.alt + self.body).encode()).hexdigest()[:12]
        return (
            f'<svg {attributes} viewBox="-1 -1 {self.width + 2:g} {self.height + 2:g}"'
            f' role="img" aria-labelledby="painted-{name}" text-anchor="middle"'
            ' font-family="system-ui, sans-serif" font-size="10" fill="currentColor">'
            f'<title id="painted-{name}">{escape(self.alt)}</title>'
            f"{style}{self.body}</svg>"
        )


class Frame(NamedTuple):
    """What one device shows: its labels, its piece of the array, and its values."""

    labels: list  # one for each mesh axis, such as "rows 3"
    piece: tuple  # ((first row, last row + 1), (first column, last column + 1))
    number: int  # of the piece among all pieces: its hue and its letter
    values: list | None  # one text for each element, row by row

    @property
    def foot(self):
        """The letter of the piece, and its shape where no values are painted."""
        (top, bottom), (left, right) = self.piece
        letter = chr(ord("A") + self.number % 26) + "\N{PRIME}" * (self.number // 26)
        return letter + ("" if self.values else f" ({bottom - top}, {right - left})")


def shards(x, alt, title=None):
    """Paint which device holds which piece of `x`, a `jax.Array` of any sharding.

    Up to 64 elements the values are painted, beyond that the shape of each piece.
    A 1-d array stands as a column. Raises ValueError when `alt` is blank, or `x` is
    empty or has three axes longer than one; TypeError when `x` is no concrete array.
    """
    return strip([(title, x)], alt)


def svg(x, alt, title=None):
    """Return the picture that `shards` paints as the text of an SVG file."""
    return shards(x, alt, title).standalone()


def strip(items, alt, width=WIDTH):
    """Paint `(label, array)` panels, one below the other and to the same scale.

    The values are painted when all the arrays are small; raises as `shards` does.
    """
    if not alt or not alt.strip():
        raise ValueError("a figure needs alt: one sentence that says what is seen")
    shapes = [_shape(x) for _, x in items]
    longest = max(map(max, shapes))
    small = longest <= LONGEST and max(map(math.prod, shapes)) <= MOST
    unit = None if small else BLOCK / longest
    body, right, bottom = "", 0, 0
    for label, x in items:
        bottom += 2 * GAP if body else 0
        heading, top = (_text(0, 11, label, HEADING), 20) if label else ("", 0)
        frames, wide, tall = _panel(x, width, unit)
        body += _group("panel", 0, bottom, heading + _group("mesh", 0, top, frames))
        right, bottom = max(right, wide), bottom + top + tall
    return Figure(alt.strip(), body, right, bottom)


def spine():
    """Return the picture of the README: the table of `examples.spine`, centered."""
    from examples.spine import by_shard_map, table

    devices = (jax.devices() if jax.device_count() >= 8 else jax.devices("cpu"))[:8]
    mesh = jax.make_mesh((8,), ("rows",), devices=devices)
    x = jax.device_put(table(), jax.NamedSharding(mesh, jax.P("rows")))
    panels = [("x", x), ("center(x)", by_shard_map(x, mesh))]
    alt = (
        "A table of eight rows lies on eight devices, one row on each; below it the"
        " same table with the mean taken off every column, still one row on each."
    )
    return strip(panels, alt, width=2 * WIDTH)


def _panel(x, width, unit):
    """Return the SVG of one array on its mesh, and the width and height it takes.

    `unit` is the length of one element of a block; None paints the values.
    """
    shape, places, columns = _shape(x), *_places(x.sharding)
    frames = _frames(x, places, painted=unit is None)
    values = [len(value) for frame in frames for value in frame.values or []]
    if values:
        cell = max(16, 6 * max(values) + 6), 16
    else:
        rows, across = (max(12, (unit or 8) * n) / n for n in shape)
        cell = across, rows
    words = [word for frame in frames for word in (*frame.labels, frame.foot)]
    wide = max(cell[0] * shape[1], 4.8 * max(map(len, words))) + 2 * PAD
    tall = cell[1] * shape[0] + LINE * (len(frames[0].labels) + 1) + PAD
    if columns is None:
        fits = max(1, int((width + GAP) // (wide + GAP)))
        columns = next(k for k in range(fits, 0, -1) if len(frames) % k == 0)
    body = ""
    for k, frame in enumerate(frames):
        x0, y0 = k % columns * (wide + GAP), k // columns * (tall + GAP)
        body += _group("device", x0, y0, _paint(frame, shape, cell, wide, tall))
    return body, columns * (wide + GAP) - GAP, y0 + tall


def _frames(x, places, painted):
    """Return a frame for each (device, labels) of `places`."""
    indices = x.sharding.devices_indices_map(x.shape).items()
    pieces = {device: _bounds(index, x.shape) for device, index in indices}
    numbers = {piece: k for k, piece in enumerate(sorted(set(pieces.values())))}
    data = x.addressable_shards if painted else ()
    held = {shard.device: _values(shard.data) for shard in data}
    return [
        Frame(labels, pieces[device], numbers[pieces[device]], held.get(device))
        for device, labels in places
    ]


def _shape(x):
    """Return the shape of `x` in two axes; raise what `shards` promises to raise."""
    if not isinstance(x, jax.Array) or isinstance(x, jax.core.Tracer):
        raise TypeError(f"a figure is painted from a concrete jax.Array, not {type(x)}")
    if x.size == 0 or sum(n > 1 for n in x.shape) > 2:
        raise ValueError(f"a figure shows one or two axes longer than 1: {x.shape}")
    return tuple(stop for _, stop in _bounds([slice(None)] * x.ndim, x.shape))


def _bounds(index, shape):
    """Return an index of slices as (start, stop) in two axes; a vector is a column."""
    axes = [s.indices(n)[:2] for s, n in zip(index, shape, strict=True)]
    if len(axes) > 2:
        axes = [axis for axis, n in zip(axes, shape, strict=True) if n > 1]
    return tuple(axes + [(0, 1)] * (2 - len(axes)))


def _places(sharding):
    """Return (device, labels) in the order of the mesh, and the length of its lines."""
    mesh = getattr(sharding, "mesh", None)
    if mesh is None:
        devices = sorted(sharding.device_set, key=lambda device: device.id)
        return [(device, [f"device {k}"]) for k, device in enumerate(devices)], None
    names = [name if name[0] != "_" else "device" for name in mesh.axis_names]
    places = [
        (mesh.devices[at], [f"{name} {k}" for name, k in zip(names, at, strict=True)])
        for at in np.ndindex(mesh.devices.shape)
    ]
    long = [n for n in mesh.devices.shape if n > 1]
    return places, long[-1] if len(long) > 1 else None


def _values(data):
    """Return each element as a short text, or None where it is no real number."""
    real = jnp.bool_, jnp.integer, jnp.floating
    if not any(jnp.issubdtype(data.dtype, kind) for kind in real):
        return None
    numbers = np.asarray(data).astype(float).ravel()
    texts = [f"{n:g}" if n.is_integer() else f"{n:.3g}" for n in numbers.tolist()]
    return [text.replace("-", "\N{MINUS SIGN}") for text in texts]


def _paint(frame, shape, cell, wide, tall):
    """Return the SVG of one frame that is `wide` and `tall`, with cells of one size."""
    (top, bottom), (left, right) = frame.piece
    across, down = cell
    x0, y0 = (wide - across * shape[1]) / 2, LINE * len(frame.labels) + PAD - 2
    body = _rect("frame", 0, 0, wide, tall, 'rx="5" fill="none" stroke-opacity=".4"')
    for line, words in enumerate(frame.labels, 1):
        body += _text(wide / 2, LINE * line - 1, words, LABEL)
    whole = across * shape[1], down * shape[0]
    body += _rect("whole", x0, y0, *whole, 'fill="none" stroke-opacity=".4"')
    if frame.values:
        body += _lines(x0, y0, shape, cell)
    hue = frame.number % len(HUES)
    fill = f'rx="2" stroke-opacity=".4" fill="var(--hue-{hue + 1}, {HUES[hue]})"'
    place = x0 + across * left, y0 + down * top
    body += _rect("piece", *place, across * (right - left), down * (bottom - top), fill)
    for k, value in enumerate(frame.values or []):
        row, column = divmod(k, right - left)
        at = place[0] + across * (column + 0.5), place[1] + down * (row + 0.5) + 3.6
        body += _text(*at, value, f'class="value" fill="{INK}"')
    foot = 'class="letter" font-size="9"'
    return body + _text(wide / 2, tall - 5, frame.foot, foot)


def _lines(x0, y0, shape, cell):
    """Return hairlines between the elements of the whole array."""
    wide, tall = cell[0] * shape[1], cell[1] * shape[0]
    lines = [f"M{x0:g} {y0 + cell[1] * k:g}h{wide:g}" for k in range(1, shape[0])]
    lines += [f"M{x0 + cell[0] * k:g} {y0:g}v{tall:g}" for k in range(1, shape[1])]
    stroke = 'stroke="currentColor" stroke-width=".5" stroke-opacity=".2"'
    path = "".join(lines)
    return f'<path d="{path}" {stroke}/>'


def _group(kind, x, y, body):
    return f'<g class="{kind}" transform="translate({x:g} {y:g})">{body}</g>'


def _rect(kind, x, y, width, height, attributes):
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    stroke = 'stroke="currentColor" stroke-width=".75"'
    return f'<rect class="{kind}" {place} {stroke} {attributes}/>'


def _text(x, y, words, attributes):
    return f'<text x="{x:g}" y="{y:g}" {attributes}>{escape(words)}</text>'


if __name__ == "__main__":  # PYTHONPATH=.:docs python -m book.figures
    jax.config.update("jax_num_cpu_devices", 8)
    picture = Path(__file__).parents[1] / "_static" / "spine.svg"
    picture.write_text(spine().standalone(), encoding="utf-8")
