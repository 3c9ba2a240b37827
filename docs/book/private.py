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
from importlib.metadata import version
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
_LOADS = re.compile(
    r"""<(?:script|img|iframe|source|audio|video)\b[^>]*\bsrc=["'](?P<src>(?:https?:)?//[^"']+)
      | <link\b(?=[^>]*\brel=["'](?:stylesheet|preload|prefetch|preconnect|icon))[^>]*
        \bhref=["'](?P<href>(?:https?:)?//[^"']+)
      | @import\s+(?:url\()?["']?(?P<imported>(?:https?:)?//[^"')]+)
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
    return [next(filter(None, match.groups())) for match in _LOADS.finditer(text)]


def _check(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    private = [s for s in local_strings(*app.book.roots) if "/" in s]
    out = Path(app.outdir)
    bad = []
    pages = [*out.rglob("*.html"), *out.rglob("*.css")]
    for path in sorted([*pages, *out.glob("_static/programs/**/*.js")]):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(out)
        bad += [f"{name} asks another host for {found}" for found in requests(text)]
        bad += [
            f"{name} holds {found}, a path of this machine"
            for found in private
            if found in text
        ]
    for reason in bad:
        logger.warning("%s", reason, type="book", subtype="clean")
    if bad:
        app.statuscode = 1


def setup(app: Sphinx) -> dict:
    """Look at every file that was built."""
    app.connect("build-finished", _check, priority=700)
    return {"version": version("sphinx"), "parallel_read_safe": True}
