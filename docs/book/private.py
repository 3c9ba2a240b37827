"""No built page holds a path of this machine, or asks another host for a file.

Everything a page loads lies beside it, so the site opens from a folder, without a
network, and tells nobody that it is read.
"""

from __future__ import annotations

import getpass
import re
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

from book.memory import found_in

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


def local_strings(*roots: Path) -> list[str]:
    """Paths and names of this machine, none of which may be published."""
    host = socket.gethostname()
    found = {str(root) for root in roots} | {sys.prefix, tempfile.gettempdir() + "/"}
    with suppress(OSError, KeyError):  # a user id without a name
        user = getpass.getuser()
        found |= {f"/home/{user}", f"/Users/{user}", f"{user}@"}
    with suppress(RuntimeError):  # nor a folder
        if len(str(Path.home())) > 1:
            found.add(f"{Path.home()}/")
    if len(host) > 4 and host != "localhost":
        found.add(host)
    return sorted(found)


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
    # looked through for its name as well, by `run.judge`.
    private = [s for s in local_strings(*app.book.roots) if "/" in s]

    def look(text: str) -> tuple[list[str], list[str]]:
        return requests(text), [string for string in private if string in text]

    out = Path(app.outdir)
    files = sorted(p for p in out.rglob("*") if p.suffix in _TEXTS and p.is_file())
    loads = {path for path in files if path.suffix in (".html", ".css")}
    loads |= {*out.glob("_static/programs/**/*.js")}
    bad = []
    found = found_in(files, look, app.book.made / "private.pickle", private)
    for path, (asks, strings) in found.items():
        name = path.relative_to(out)
        bad += [f"{name} asks another host for {ask}" for ask in asks if path in loads]
        bad += [f"{name} holds {one}, a path of this machine" for one in strings]
    for reason in bad:
        logger.warning("%s", reason, type="book", subtype="clean")
    if bad:
        app.statuscode = 1
