"""Draw what happened when: a row for each thread or device, a bar for each event.

Promise: a bar begins and ends where its times say, on one axis for all rows; equal
names have equal hues, and a bar that has room for its name carries it.

    from book.draw.spans import spans
    spans({"host": [("load", 0, 20)]}, x="time [ms]", alt="The host loads for 20 ms.")
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from book.draw.svg import GAP, HUES, INK, LABEL, Figure, described, fill, rect, text

LETTER, TALL, APART = 5.6, 15, 4  # of a letter; a row; between rows
FIELD, KEY = 430, 14  # how wide the axis is; the square of a name below it
Event = tuple[str, float, float]  # name, start, stop


def spans(rows: Mapping[str, Sequence[Event]], x: str, alt: str) -> Figure:
    """Draw `{row: [(name, start, stop), ...]}` as bars over one axis from zero.

    x: what the axis counts, in words.  The first start is zero, whatever clock it is.
    Raises ValueError when `alt` is blank, there is no event, one ends before it
    begins, or there are more names than hues.
    """
    alt, events = described(alt), [event for row in rows.values() for event in row]
    names = _names(events)
    first, last = min(e[1] for e in events), max(e[2] for e in events)
    step = FIELD / ((last - first) or 1)
    left = LETTER * max(map(len, rows)) + GAP
    body = ""
    for k, (row, bars) in enumerate(rows.items()):
        top = k * (TALL + APART)
        body += text(left - GAP, top + 11, row, f'text-anchor="end" {LABEL}')
        for name, start, stop in bars:
            place = left + (start - first) * step, top, (stop - start) * step
            body += _bar(name, names.index(name), *place)
    below = len(rows) * (TALL + APART)
    body += _axis(left, below, last - first, x) + _key(names, left, below + 34)
    return Figure(alt, body, left + FIELD + GAP, below + 52)


def _names(events: Iterable[Event]) -> list[str]:
    """Return the names, each once; raises what `spans` promises to raise."""
    for name, start, stop in events:
        if not start <= stop:
            raise ValueError(f"{name!r} ends at {stop}, before it begins at {start}")
    names = list(dict.fromkeys(name for name, _, _ in events))
    if not 1 <= len(names) <= len(HUES):
        raise ValueError(f"{len(HUES)} names can be told apart, not {len(names)}")
    return names


def _bar(name: str, hue: int, at: float, top: float, wide: float) -> str:
    """Return one bar, with its name where that fits, and as its title anyway."""
    body = rect("bar", at, top, max(wide, 0.5), TALL, f'fill="{fill(hue)}"')
    if LETTER * len(name) + 2 < wide:
        body += text(at + wide / 2, top + 11, name, f'fill="{INK}"')
    return f"<g><title>{escape(name)}</title>{body}</g>"


def _axis(left: float, below: float, length: float, x: str) -> str:
    """Return the axis below all rows, with three to seven round numbers."""
    power = 10.0 ** math.floor(math.log10(length or 1))
    tick = next(power * n for n in (0.2, 0.5, 1, 2) if length <= 7 * power * n)
    body = f'<path d="M{left:g} {below}h{FIELD}" stroke="currentColor"/>'
    for k in range(int(length / tick + 1e-9) + 1):
        at = left + k * tick * FIELD / (length or 1)
        body += f'<path d="M{at:.1f} {below}v4" stroke="currentColor"/>'
        body += text(at, below + 14, f"{k * tick:g}", 'class="tick"')
    return body + text(left + FIELD / 2, below + 27, x, 'class="axis"')


def _key(names: Iterable[str], left: float, top: float) -> str:
    """Return the hues with their names, side by side."""
    body = ""
    for number, name in enumerate(names):
        body += rect("key", left, top, 11, 11, f'fill="{fill(number)}"')
        words = 'text-anchor="start" class="name"'
        body += text(left + KEY, top + 9.5, name, words)
        left += KEY + LETTER * len(name) + 2 * GAP
    return body
