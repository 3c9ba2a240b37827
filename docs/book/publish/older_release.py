"""A line on each page of an older release of JAX that leads to the newest.

Readers and search engines are told, with or without a script.  A book does not know
when it is built what it will be published with, so this is written into the copy.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

_CANONICAL = re.compile(r'<link rel="canonical"[^>]*>\s*')
_ARTICLE = '<article class="bd-article">'  # of docs/_templates/layout.html


def tell(site: Path, folder: str, release: str, newest: str, address: str) -> None:
    """Write the line into the pages of `release` in a `folder` of `site`.

    The newest page of the same name is the canonical one, where the site's `address` is
    known; a page that the newest book has no more leads to its front page.
    """
    for path in (site / folder).rglob("*.html"):
        name = path.relative_to(site / folder).as_posix()
        there = (site / name).is_file()
        text = _CANONICAL.sub("", path.read_text(encoding="utf-8"))
        if there and address:
            link = f'<link rel="canonical" href="{escape(address + name)}">'
            text = text.replace("</head>", f"{link}\n</head>", 1)
        up = "../" * len(Path(name).parts)
        said = _sentence(release, newest, up + (name if there else "index.html"), there)
        path.write_text(text.replace(_ARTICLE, _ARTICLE + said, 1), encoding="utf-8")


def _sentence(release: str, newest: str, link: str, there: bool) -> str:
    shown = "The same page" if there else "The book"
    return (
        f"\n<p data-older>This page is of an older release, JAX {escape(release)}. "
        f'<a href="{escape(link)}">{shown} with JAX {escape(newest)}</a>.</p>'
    )
