"""Draw for a page, and read from an array what is drawn.

Promise: a picture says in words what is seen, follows the page's colours in light, dark
and print, and comes out the same, byte for byte, for the same arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

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

    def __repr__(self) -> str:
        return self.alt

    def _repr_html_(self) -> str:
        style = f"width:100%;max-width:{1.4 * self.width:.0f}px"
        if self.width > 1.05 * WIDTH:  # scrolled on a phone, not shrunk
            style += f";min-width:{0.8 * self.width:.0f}px"
        picture = self._svg(f'style="{style}"')
        frame = 'class="painted" style="margin-inline:0;overflow-x:auto"'
        return f"<figure {frame}>{picture}</figure>"

    def standalone(self) -> str:
        """Return the text of an SVG file: an `<img>` for light and dark pages."""
        namespace = 'xmlns="http://www.w3.org/2000/svg"'
        text = self._svg(f'{namespace} width="{1.4 * self.width:.0f}"', STANDALONE)
        for number, hue in enumerate(HUES, 1):
            text = text.replace(f"var(--hue-{number}, {hue})", hue)
        return text + "\n"

    def _svg(self, attributes: str, style: str = "") -> str:
        name = hashlib.sha256((self.alt + self.body).encode()).hexdigest()[:12]
        return (
            f'<svg {attributes} viewBox="-1 -1 {self.width + 2:g} {self.height + 2:g}"'
            f' role="img" aria-labelledby="painted-{name}" text-anchor="middle"'
            ' font-family="system-ui, sans-serif" font-size="10.1" fill="currentColor">'
            f'<title id="painted-{name}">{escape(self.alt)}</title>'
            f"{style}{self.body}</svg>"
        )


def described(alt: str | None) -> str:
    """Return `alt` without space around it; raises ValueError where it says nothing."""
    if not alt or not alt.strip():
        raise ValueError("a figure needs alt: one sentence that says what is seen")
    return alt.strip()


def concrete(x: Any) -> jax.Array:
    """Return `x`; raises TypeError unless it is a `jax.Array` that holds numbers."""
    if not isinstance(x, jax.Array) or isinstance(x, jax.core.Tracer):
        raise TypeError(f"a figure is painted from a concrete jax.Array, not {type(x)}")
    return x


def places_of(
    sharding: jax.sharding.Sharding,
) -> tuple[list[tuple[jax.Device, list[str]]], int | None]:
    """Return the devices of a sharding, and how many stand on a line of a picture.

    Each device comes with its labels, such as "rows 3", one for each axis of the mesh,
    and in the order of the mesh.  The number is None where the width of the picture
    decides, since no more than one axis is longer than 1.
    """
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


def texts_of(data: jax.Array | np.ndarray) -> list[str] | None:
    """Return each element as a short text, or None where it is no real number."""
    real = jnp.bool_, jnp.integer, jnp.floating
    if not any(jnp.issubdtype(data.dtype, kind) for kind in real):
        return None
    numbers = np.asarray(data).astype(float).ravel().tolist()
    kinds = [".0f" if n.is_integer() and abs(n) < 1e8 else ".3g" for n in numbers]
    texts = [format(n, kind) for n, kind in zip(numbers, kinds, strict=True)]
    return [text.replace("-", "\N{MINUS SIGN}") for text in texts]


def wrapped(count: int, wide: float, width: float = WIDTH) -> int:
    """Return how many of `count` frames stand on a line: all lines are equally long."""
    fits = max(1, int((width + GAP) // (wide + GAP)))
    return next(k for k in range(fits, 0, -1) if count % k == 0)


def outline(labels: Sequence[str], wide: float, tall: float) -> str:
    """Return the frame of one device, with a line for each of its labels."""
    body = rect("frame", 0, 0, wide, tall, 'rx="5" fill="none" stroke-opacity=".4"')
    for line, words in enumerate(labels, 1):
        body += text(wide / 2, LINE * line - 1, words, LABEL)
    return body


def fill(number: int) -> str:
    """Return the hue of a number: a variable of the page, or else the house's own."""
    hue = number % len(HUES)
    return f"var(--hue-{hue + 1}, {HUES[hue]})"


def group(kind: str, x: float, y: float, body: str) -> str:
    """Return `body` moved to (x, y), as a group of the class `kind`."""
    return f'<g class="{kind}" transform="translate({x:g} {y:g})">{body}</g>'


def rect(
    kind: str, x: float, y: float, width: float, height: float, attributes: str
) -> str:
    """Return a rectangle of the class `kind`, with a thin line around it."""
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    stroke = 'stroke="currentColor" stroke-width=".75"'
    return f'<rect class="{kind}" {place} {stroke} {attributes}/>'


def text(x: float, y: float, words: str, attributes: str) -> str:
    """Return escaped `words` on the line through (x, y)."""
    return f'<text x="{x:g}" y="{y:g}" {attributes}>{escape(words)}</text>'
