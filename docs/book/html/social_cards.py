"""The picture of a page in a shared link: its title, and its first figure or its lead.

Social sites take PNG and no SVG, so the card is composed as SVG around the page's own
figure and rendered by resvg: one wheel of 1.4 MB without dependencies, where the cards
of sphinxext-opengraph need matplotlib, and Pillow cannot read a figure.  Only the
session `site` installs it; without it, or without an address, there are no cards.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap

from docutils import nodes
from sphinx.application import Sphinx

FOLDER, SIZE = "_cards", (1200, 630)
INK, QUIET, PAPER = "#1f2328", "#5a6270", "#ffffff"
_PAINTED = re.compile(r'<figure class="painted".*?(<svg .*?</svg>)', re.DOTALL)
_BOX = re.compile(r'<svg [^>]*viewBox="(\S+) (\S+) (\S+) (\S+)"')


@cache
def possible() -> bool:
    """Whether this session can render a card; an error where it has no font for it."""
    if find_spec("resvg_py") is None:
        return False
    if render(_svg(_line(600, 300, 40, "Card"))) == render(_svg("")):
        raise RuntimeError("no font to write on cards; install one, such as DejaVu")
    return True


def render(svg: str) -> bytes:
    """The picture as PNG."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, background=PAPER))


def write(app: Sphinx, name: str, doctree: nodes.document, lead: str) -> str:
    """Write the card of a page; return its address below the site's."""
    card = f"{FOLDER}/{name}.png"
    path = Path(app.outdir, card)
    path.parent.mkdir(parents=True, exist_ok=True)
    title = next(doctree.findall(nodes.title)).astext()
    path.write_bytes(render(compose(title, figure(doctree), lead, app.config.project)))
    return card


def figure(doctree: nodes.document) -> str | None:
    """The first painted figure of a page, as SVG that stands alone."""
    for raw in doctree.findall(nodes.raw):
        if found := _PAINTED.search(raw.astext()):  # no icon, as a dropdown has
            text = re.sub(r"var\(--[\w-]+, ?([^)]*)\)", r"\1", found[1])
            return text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return None


def compose(title: str, picture: str | None, lead: str, project: str) -> str:
    """The card as SVG: the title, below it the picture or the lead, then the book."""
    from book.draw.svg import HUES  # and with it JAX, which takes long

    lines = wrap(title, 40)[:3]
    body = "".join(
        _line(60, 96 + 60 * n, 48, line, "bold") for n, line in enumerate(lines)
    )
    top = 80 + 60 * len(lines)
    if picture:
        body += _fitted(picture, 60, top, 1080, 540 - top)
    else:
        text = wrap(lead, 62)[:6]
        body += "".join(_line(60, top + 50 + 44 * n, 32, t) for n, t in enumerate(text))
    for n, hue in enumerate(HUES):
        place = f'x="{60 + n % 4 * 16}" y="{568 + n // 4 * 16}"'
        body += f'<rect {place} width="13" height="13" rx="3" fill="{hue}"/>'
    return _svg(body + _line(140, 592, 26, project, "normal", QUIET))


def _svg(body: str) -> str:
    wide, tall = SIZE
    size = f'width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{body}</svg>'


def _line(x: int, y: int, size: int, text: str, weight="normal", fill=INK) -> str:
    style = f'font-family="sans-serif" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x}" y="{y}" fill="{fill}" {style}>{escape(text)}</text>'


def _fitted(svg: str, x: int, y: int, wide: int, tall: int) -> str:
    """A picture as large as fits into a box, at its left."""
    _, _, width, height = map(float, _BOX.search(svg).groups())
    scale = min(wide / width, tall / height)
    size = f'x="{x}" y="{y}" width="{width * scale:.0f}" height="{height * scale:.0f}"'
    bare = re.sub(r' style="[^"]*"', "", svg, count=1)
    return bare.replace("<svg ", f'<svg {size} color="{INK}" ', 1)
