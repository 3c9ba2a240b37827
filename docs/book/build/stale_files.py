"""Remove the files of pages that were renamed or removed: Sphinx leaves them.

The HTML of such a page would go on claiming to be verified.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx

from book.exports import markdown_export, notebook
from book.exports.beside_pages import keep_only
from book.state import book_of

_ENDS = ("", ".txt")  # of a page's source: a.md, a.md.txt
_NO_PAGES = ("404", "genindex", "search")  # what Sphinx writes beside them


def remove(app: Sphinx) -> None:
    """Remove what the site, and the build beside it, has of pages that are gone."""
    out, made, doctrees = Path(app.outdir), book_of(app).made, Path(app.doctreedir)
    written = set(filter(book_of(app).writes, app.env.found_docs))
    pages = app.env.found_docs
    keep_only(out, (".html",), {*written, *_NO_PAGES})
    shown = {name for name in written if Path(out, f"{name}.html").exists()}
    keep_only(out, (markdown_export.END,), shown)
    with_code = {s.name for s in book_of(app).written() if notebook.has_files(s)}
    keep_only(out, notebook.ENDS, with_code)
    for folder in (out / "_sources", made / "jupyter_execute", doctrees):
        for path in _of_no_page(folder.rglob("*"), folder, pages):
            if path.suffix in (".md", ".txt", ".ipynb", ".doctree"):
                path.unlink()
    for path in (made / "cache").glob("*/*.json"):
        # A page that could not be opened keeps its outputs until it can.
        if path.name.split(".")[0].replace("~", "/") not in book_of(app).states:
            path.unlink(missing_ok=True)
    for path in _unused(app, made / "jupyter_execute"):
        path.unlink()
    for folder in (out, made / "snippets", made / "jupyter_execute"):
        _remove_empty(folder)


def _unused(app: Sphinx, drawn: Path) -> list[Path]:
    """The pictures and downloads that no page has, and sources in another format.

    MyST-NB writes the pictures of outputs to the folder `drawn`.
    """
    out, env = Path(app.outdir), app.env
    pictures, downloads = out / app.builder.imagedir, out / "_downloads"
    names = {name for _, name in env.images.values()}
    used = {pictures / name for name in names | set(app.builder.images.values())}
    used |= {downloads / name for _, name in env.dlfiles.values()}
    used |= {(Path(app.srcdir) / name).resolve() for name in env.images}
    sources = {f"{page}{env.doc2path(page).suffix}" for page in env.found_docs}
    used |= {out / "_sources" / f"{name}{end}" for name in sources for end in _ENDS}
    places = (pictures, downloads, drawn, out / "_sources")
    found = {path for place in places for path in place.rglob("*") if path.is_file()}
    made_elsewhere = set((downloads / "programs").rglob("*"))
    # Notebooks, and the values that pages lend to others, which go when these do.
    of_pages = {*drawn.rglob("*.ipynb"), *drawn.rglob("*.glue.json")}
    return sorted(found - used - made_elsewhere - of_pages)


def _of_no_page(paths: Iterable[Path], folder: Path, pages: set[str]) -> list[Path]:
    """The `paths` in `folder` that are called as none of the `pages`."""
    found = []
    for path in paths:
        name = path.relative_to(folder).as_posix()
        for end in (path.suffix, ".txt", ".md"):  # a/b.html, a/b.md.txt
            name = name.removesuffix(end)
        if name not in pages:
            found.append(path)
    return found


def _remove_empty(folder: Path) -> None:
    """Remove the folders inside `folder` that hold no file."""
    for path in sorted(folder.rglob("*/"), reverse=True):  # the deepest first
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
