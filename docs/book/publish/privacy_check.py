"""No built page holds a path of this machine, or asks another host for a file.

Everything a page loads lies beside it, so the site opens from a folder, without a
network, and tells nobody that it is read.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

from book.files import local_strings

logger = logging.getLogger(__name__)
_TEXTS = {*".html .css .js .json .txt .md .ipynb .svg .xml .buildinfo".split(" ")}
_TAG = re.compile(
    r"<(?:script|img|iframe|source|audio|video|link)\b[^>]*>", re.IGNORECASE
)
_LOADS = re.compile(
    r"""<(?!link)[^>]*\bsrc=["'](?P<src>(?:https?:)?//[^"']+)
      | <link\b(?=[^>]*\brel=["'](?:stylesheet|preload|prefetch|preconnect|icon))[^>]*
        \bhref=["'](?P<href>(?:https?:)?//[^"']+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STYLE = re.compile(
    r"""@import\s+(?:url\()?["']?(?P<imported>(?:https?:)?//[^"')]+)
      | url\(["']?(?P<url>(?:https?:)?//[^"')]+)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def requests(text: str) -> list[str]:
    """The addresses on other hosts that a browser would fetch for `text`."""
    # Tags first, and styles only where there are any: four times as fast on a page.
    found = [*_LOADS.finditer("\n".join(_TAG.findall(text)))]
    if any(mark in text for mark in ("@import", "url(", "@IMPORT", "URL(")):
        found += _STYLE.finditer(text)
    return [next(filter(None, match.groups())) for match in found]


def check(app: Sphinx, exception: Exception | None) -> None:
    """Look at every file that was built."""
    if exception is not None or app.builder.format != "html":
        return
    # A machine may be called what pages speak of, "worker"; what cells put out is
    # looked through for its name as well, by `execute.output_rules`.
    private = [s for s in local_strings(*app.book.roots) if "/" in s]

    def look(text: str) -> tuple[list[str], list[str]]:
        return requests(text), [string for string in private if string in text]

    out = Path(app.outdir)
    files = sorted(p for p in out.rglob("*") if p.suffix in _TEXTS and p.is_file())
    loads = {path for path in files if path.suffix in (".html", ".css")}
    loads |= {*out.glob("_static/programs/**/*.js")}
    bad = []
    for path in files:
        asks, strings = look(path.read_text(encoding="utf-8", errors="replace"))
        name = path.relative_to(out)
        bad += [f"{name} asks another host for {ask}" for ask in asks if path in loads]
        bad += [f"{name} holds {one}, a path of this machine" for one in strings]
    for reason in bad:
        logger.warning("%s", reason, type="book", subtype="clean")
    if bad:
        app.statuscode = 1
