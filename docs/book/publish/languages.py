"""Pages that there are in several languages lead to each other, in a published site.

A book does not know when it is built which languages it will be published with, so the
links are written into the copy: one in the header, for readers, and `hreflang` ones for
search engines.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from book.directives.build_record import RECORD
from book.translation.edition import ENGLISH

NAMES = {ENGLISH: "English", "zh_CN": "中文"}
_BUTTONS = '<div class="article-header-buttons">'  # of the theme


def folders(book: Path) -> list[str]:
    """The languages in folders of the built `book`."""
    return sorted(path.parent.name for path in book.glob(f"*/{RECORD}"))


def link(site: Path, language: str, address: str) -> None:
    """Link each page of a `language` with the English one, both ways."""
    for path in (site / language).rglob("*.html"):
        name = path.relative_to(site / language).as_posix()
        if not (site / name).is_file():
            continue
        up = "../" * name.count("/")
        pages = {ENGLISH: name, language: f"{language}/{name}"}
        alternates = "".join(
            f'<link rel="alternate" hreflang="{_tag(one)}" href="{address}{page}">\n'
            for one, page in pages.items()
            if address
        )
        _write(site / name, alternates, language, f"{up}{pages[language]}")
        _write(path, alternates, ENGLISH, f"../{up}{name}")


def _write(path: Path, alternates: str, other: str, address: str) -> None:
    """Write into a page what leads to the same page in the language `other`."""
    tag, shown = _tag(other), escape(NAMES.get(other, other))
    leads = f'lang="{tag}" hreflang="{tag}" href="{escape(address)}"'
    switch = f'<a class="language" {leads}>{shown}</a>'
    text = path.read_text(encoding="utf-8")
    text = text.replace("</head>", f"{alternates}</head>", 1)
    text = text.replace(_BUTTONS, f"{_BUTTONS}\n{switch}", 1)
    path.write_text(text, encoding="utf-8")


def _tag(language: str) -> str:
    """The name of a language in HTML."""
    return language.replace("_", "-")
