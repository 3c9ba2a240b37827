"""Files that stand beside a page's HTML, with its name and another ending."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from book.directives.build_record import RECORD


def beside_pages(out: Path, ends: tuple[str, ...]) -> Iterable[Path]:
    """The files that end so; those of Sphinx and of the theme lie elsewhere.

    A folder with a record of its own is the book in another language.
    """
    others = {path.parent for path in out.glob(f"*/{RECORD}")}
    found = [path for end in ends for path in out.rglob(f"*{end}")]
    names = {path: path.relative_to(out).parts[0] for path in found}
    return [p for p, n in names.items() if n[0] != "_" and out / n not in others]


def keep_only(out: Path, ends: tuple[str, ...], pages: Iterable[str]) -> None:
    """Remove the files that end so, but for those of `pages`."""
    kept = {out / f"{name}{end}" for name in pages for end in ends}
    for path in set(beside_pages(out, ends)) - kept:
        path.unlink()
