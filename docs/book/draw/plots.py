"""Draw measured numbers as lines, each with its name at its end.

Promise: a point stands where its value says, on axes whose ticks read as 10 MB or 1 ms.
Colour is never the only cue: every line has a mark of its own, and its name beside it.
Both axes are logarithmic, since what is compared here differs by powers of ten.

    from book.draw.plots import lines
    lines({"vmap": [(8, 2e-5), (64, 3e-5)]}, x="rows", y="a call [s]", alt="Flat.")
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

from book.draw.svg import HEADING, HUES, WIDTH, Figure

MARKS = (  # paths about the origin, told apart without colour
    "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z",  # disc
    "M-3 -3h6v6h-6z",  # square
    "M0 -4l4 7h-8z",  # triangle
    "M0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z",  # diamond
    "M-4 0h8M0 -4v8",  # plus
    "M-3 -3l6 6M3 -3l-6 6",  # cross
)
ORDER = 0, 1, 5, 3, 2, 6  # of the hues: neighbors differ most
MIXED = 60  # percent of hue in a line; the rest is the colour of the text
PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
HEIGHT, LEAST = 190, 200  # of the field; the least width that is left for it
ROOM, APART, LETTER = 10, 12.5, 5.6  # around points; between names; for a letter
Point = tuple[float, float]
Scale = Callable[[float], float]  # from a value to its place in the picture
FAINT = 'stroke="currentColor" stroke-width=".6" stroke-opacity'


def lines(
    series: Mapping[str, Sequence[Point]],
    alt: str,
    x: str,
    y: str,
    title: str | None = None,
) -> Figure:
    """Draw `{name: [(x, y), ...]}`, a line for each name, on two logarithmic axes.

    x, y: what an axis counts, its unit in brackets: "a call [s]" has ticks like 1 ms.
    Raises ValueError when `alt` is blank, there are no lines or more than six, a line
    has no points, or a number is not above zero: it has no place on such an axis.
    """
    _refuse(series, alt)
    xs, ys = ([p[k] for points in series.values() for p in points] for k in (0, 1))
    x_unit, y_unit = _unit(x)[1], _unit(y)[1]
    rows = {_amount(value, y_unit): value for value in _ticks(ys, HEIGHT / 30)}
    left, top = LETTER * max(map(len, rows)) + 8, 40 if title else 20
    names = LETTER * max(map(len, series)) + 24
    field = max(LEAST, WIDTH - left - names)
    across = _scale(xs, left + ROOM, left + field - ROOM)
    down = _scale(ys, top + HEIGHT - ROOM, top + ROOM)
    columns = {value: _amount(value, x_unit) for value in _ticks(xs, field / 50)}

    body = _words(0, 11, title, f'class="title" {HEADING}') if title else ""
    body += _rows(rows, _unit(y)[0], (left, top, field), down)
    body += _columns(columns, _unit(x)[0], (left, top, field), across)
    drawn = [sorted((across(a), down(b)) for a, b in p) for p in series.values()]
    ends = _apart([points[-1][1] for points in drawn], top + 4, top + HEIGHT)
    for k, name in enumerate(series):
        body += _line(k, name, drawn[k], left + field + 6, ends[k])
    return Figure(alt.strip(), body, left + field + names, top + HEIGHT + 34)


def _refuse(series: Mapping[str, Sequence[Point]], alt: str) -> None:
    """Raise what `lines` promises to raise."""
    if not alt or not alt.strip():
        raise ValueError("a figure needs alt: one sentence that says what is seen")
    if not 1 <= len(series) <= len(MARKS):
        raise ValueError(f"{len(MARKS)} lines can be told apart, not {len(series)}")
    for name, points in series.items():
        if not points:
            raise ValueError(f"the line {name!r} has no points")
        for value in (number for point in points for number in point):
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name!r} has {value}; a log axis begins above zero")


def _rows(
    ticks: Mapping[str, float],
    words: str,
    place: tuple[float, float, float],
    down: Scale,
) -> str:
    """Return the axis on the left: a hairline across the field for each tick."""
    left, top, field = place
    body = _words(0, top - 8, words, 'class="axis" text-anchor="start"')
    for text, value in ticks.items():
        body += f'<path d="M{left:g} {down(value):.1f}h{field:g}" {FAINT}=".25"/>'
        at = left - 5, down(value) + 3.5
        body += _words(*at, text, 'class="y tick" text-anchor="end"')
    frame = f"M{left:g} {top:g}v{HEIGHT}h{field:g}"
    return body + f'<path d="{frame}" fill="none" {FAINT}=".6"/>'


def _columns(
    ticks: Mapping[float, str],
    words: str,
    place: tuple[float, float, float],
    across: Scale,
) -> str:
    """Return the axis below: a short line for each tick."""
    left, top, field = place
    body = ""
    for value, text in ticks.items():
        body += f'<path d="M{across(value):.1f} {top + HEIGHT}v4" {FAINT}=".6"/>'
        body += _words(across(value), top + HEIGHT + 15, text, 'class="x tick"')
    return body + _words(left + field / 2, top + HEIGHT + 30, words, 'class="axis"')


def _unit(label: str) -> tuple[str, str]:
    """Return the words of `label`, and the unit that it has in brackets, or ""."""
    found = re.fullmatch(r"(.*?) *\[(\w+)\]", label)
    return (found[1], found[2]) if found else (label, "")


def _amount(value: float, unit: str) -> str:
    """Return a number with three digits, as 1,000 or with its unit: 10 MB, 20 ms."""
    if not unit:
        return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    power = min(max(3 * math.floor(math.log10(value * 1.0001) / 3), -9), 12)
    return f"{value / 10.0**power:.3g} {PREFIXES[power]}{unit}"


def _ticks(values: Sequence[float], most: float) -> list[float]:
    """Return round numbers among `values`, at most about `most`: 1, 2, 5, or powers."""
    low, high = math.log10(min(values)), math.log10(max(values))
    low, high = low - 0.05 * (high - low) - 1e-9, high + 0.05 * (high - low) + 1e-9
    for factors in ((1, 2, 5), (1,)):
        powers = range(math.floor(low), math.ceil(high) + 1)
        round_ones = [factor * 10.0**power for power in powers for factor in factors]
        found = [value for value in round_ones if low <= math.log10(value) <= high]
        if len(found) <= most:
            break
    return found[:: math.ceil(len(found) / most) or 1] or [min(values)]


def _scale(values: Sequence[float], start: float, stop: float) -> Scale:
    """Return a function from a value to its place between `start` and `stop`."""
    low, high = math.log10(min(values)), math.log10(max(values))
    low, high = (low, high) if low < high else (low - 0.5, high + 0.5)
    return lambda v: start + (math.log10(v) - low) / (high - low) * (stop - start)


def _apart(places: Sequence[float], low: float, high: float) -> list[float]:
    """Return places for names, near to `places` and APART, between `low` and `high`."""
    order = sorted(range(len(places)), key=places.__getitem__)
    found = list(places)
    for k in order:
        found[k], low = max(found[k], low), max(found[k], low) + APART
    for k in reversed(order):
        found[k], high = min(found[k], high), min(found[k], high) - APART
    return found


def _line(k: int, name: str, points: Sequence[Point], right: float, end: float) -> str:
    """Return the SVG of one line with its marks, and with its name at its end."""
    hue = f"var(--hue-{ORDER[k] + 1}, {HUES[ORDER[k]]})"
    colour = f"color-mix(in srgb, {hue} {MIXED}%, currentColor)"
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
    body = f'<path class="line" d="M{path}" fill="none" stroke-width="1.8"/>'
    path = f"M{points[-1][0] + 5:.1f} {points[-1][1]:.1f}L{right:.1f} {end:.1f}"
    body += f'<path d="{path}" fill="none" stroke-width=".8" stroke-dasharray="1.5 2"/>'
    for kind, (a, b) in [*(("mark", p) for p in points), ("key", (right + 6, end))]:
        place = f'transform="translate({a:.2f} {b:.2f})"'
        body += f'<path class="{kind}" {place} d="{MARKS[k]}" stroke-width="1.6"/>'
    words = _words(right + 14, end + 3.5, name, 'class="name" text-anchor="start"')
    return f'<g class="series" style="stroke:{colour};fill:{colour}">{body}</g>{words}'


def _words(x: float, y: float, words: str, attributes: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escape(words)}</text>'
