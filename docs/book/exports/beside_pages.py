"""Files beside the pages of the built site, such as `vmap/axes.ipynb`."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx


def beside_pages(out: Path, ends: tuple[str, ...]) -> list[Path]:
    """The files in `out` that end so; not those of Sphinx and of the theme."""
    found = [path for end in ends for path in out.rglob(f"*{end}")]
    return [p for p in found if not p.relative_to(out).parts[0].startswith("_")]


def unchanged(app: Sphinx, ends: tuple[str, ...]) -> set[str]:
    """The pages that this build has not written, beside which files end so."""
    out, began = Path(app.outdir), app.book.unfinished.stat().st_mtime_ns
    found = set()
    for name in app.env.found_docs:
        page, *others = (out / (name + end) for end in (".html", *ends))
        there = page.exists() and all(path.exists() for path in others)
        fine = there and not app.book.state(name).problems
        if fine and page.stat().st_mtime_ns < began:
            found.add(name)
    return found
