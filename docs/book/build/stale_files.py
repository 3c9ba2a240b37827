"""Of a page that was renamed or removed nothing stays: not in the site, not beside it.

Sphinx leaves the HTML of such a page, which goes on claiming to be verified.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx

from book.exports.beside_pages import beside_pages
from book.html import social_cards

_OF_SPHINX = {"search"}  # a page of the site that no file of ours is behind


def note(app: Sphinx, name: str, *_context: object) -> None:
    """Take note of a page that this build writes."""
    app.book_written = {*getattr(app, "book_written", ()), name}


def sweep(app: Sphinx, exception: Exception | None) -> None:
    """Remove what is left of pages that are not there."""
    if exception is not None or app.builder.format != "html":
        return
    out, made = Path(app.outdir), app.book.made
    there = app.env.found_docs
    written = there | _OF_SPHINX | getattr(app, "book_written", set())
    _remove(beside_pages(out, (".html",)), out, (".html",), written)
    sources = out / "_sources"
    _remove(sources.rglob("*.*"), sources, (".md.txt", ".md", ".ipynb"), there)
    pictures = out / social_cards.FOLDER
    _remove(pictures.rglob("*.png"), pictures, (".png",), there)
    notebooks = made / "jupyter_execute"
    _remove(notebooks.rglob("*.*"), notebooks, (".md", ".ipynb"), there)
    doctrees = Path(app.doctreedir)
    _remove(doctrees.rglob("*.doctree"), doctrees, (".doctree",), there)
    for path in (made / "cache").glob("*/*.json"):
        if path.name.split(".")[0].replace("~", "/") not in there:
            path.unlink(missing_ok=True)
    for folder in (out, made / "snippets", made / "jupyter_execute"):
        _remove_empty(folder)


def _remove(
    paths: Iterable[Path], folder: Path, ends: tuple[str, ...], keep: set[str]
) -> None:
    for path in paths:
        name = path.relative_to(folder).as_posix()
        ended = next((end for end in ends if name.endswith(end)), None)
        if ended and name.removesuffix(ended) not in keep:
            path.unlink(missing_ok=True)


def _remove_empty(folder: Path) -> None:
    deepest = sorted(folder.rglob("*/"), key=lambda path: -len(path.parts))
    for path in deepest:
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
