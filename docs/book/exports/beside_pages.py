"""Files that stand beside a page's HTML, with its name and another ending."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def beside_pages(out: Path, ends: tuple[str, ...]) -> Iterable[Path]:
    """The files that end so; those of Sphinx and of the theme lie elsewhere."""
    found = [path for end in ends for path in out.rglob(f"*{end}")]
    return [p for p in found if not p.relative_to(out).parts[0].startswith("_")]


def keep_only(out: Path, ends: tuple[str, ...], pages: Iterable[str]) -> None:
    """Remove the files that end so, but for those of `pages`."""
    kept = {out / f"{name}{end}" for name in pages for end in ends}
    for path in set(beside_pages(out, ends)) - kept:
        path.unlink()
