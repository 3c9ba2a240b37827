"""A page loads what it uses: no icon font, no source map, no rule of other sites.

As the theme comes, four fifths of a first view are Font Awesome. The icons in use are
drawn by `book.css`; `_templates` link no script of Font Awesome's or Bootstrap's; and
what is left of them in the built folder goes here.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from book.publish import prune_css

UNUSED = (
    "scripts/fontawesome.js",
    "scripts/bootstrap.js",
    "locales",
    "vendor",
    "webpack-macros.html",
    "sbt-webpack-macros.html",
    "**/*.map",
    "**/*.LICENSE.txt",
)
_GLYPHS = re.compile(
    r"""(?:\.fa-[\w-]+,?)+\{--fa:"[^"]*"[^}]*\}  # .fa-house{--fa:"\f015"}
      | @font-face\{[^}]*\}
      | /\*\#\ sourceMappingURL=.*?\*/
    """,
    re.VERBOSE,
)
_DRAWN_BY_FONT = re.compile(r'"(?:[\ue000-\uf8ff]|\\[ef][0-9a-f]{3})"')
_OF_PAGES = re.compile(r"mystnb|sphinx-design|design-tabs|pygments")
_MAP = re.compile(r"\n//# sourceMappingURL=\S+\s*$")


def styles(text: str) -> str:
    """A stylesheet without glyphs: neither their fonts nor what only these can draw."""
    return _DRAWN_BY_FONT.sub('""', _GLYPHS.sub("", text))


def renew(app: Sphinx) -> None:
    """Let MyST-NB write its stylesheet; it warns where it finds another one."""
    for path in Path(app.outdir, "_static").glob("mystnb.*.css"):
        path.unlink()


def search(
    app: Sphinx, name: str, _template: str, context: dict, _tree: object
) -> None:
    """The search page has no cells and no tabs, and the index is heavy enough."""
    if name == "search":
        for files in ("css_files", "script_files"):
            used = [f for f in context[files] if not _OF_PAGES.search(str(f.filename))]
            context[files] = used


def unread(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """The search does not read what stands in figures."""
    for raw in doctree.findall(nodes.raw):
        if "<svg" in raw.astext():
            raw["classes"].append("no-search")


def slim(app: Sphinx, exception: Exception | None) -> None:
    """Look through the files that the theme has copied."""
    if exception is not None or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    for path in {path for pattern in UNUSED for path in static.glob(pattern)}:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in (static / "styles").glob("*.css"):
        path.write_text(styles(path.read_text(encoding="utf-8")), encoding="utf-8")
    for path in (static / "scripts").glob("*.js"):
        path.write_text(_MAP.sub("\n", path.read_text(encoding="utf-8")), "utf-8")
    if (theme := static / "styles" / "theme.css").is_file():
        (static / "basic.css").replace(theme)  # which did nothing but import it
    pages = Path(app.outdir).rglob("*.html")
    found = [prune_css.classes(path.read_text(encoding="utf-8")) for path in pages]
    scripts = [*static.glob("*.js"), *static.glob("scripts/*.js")]
    words = (prune_css.words(path.read_text(encoding="utf-8")) for path in scripts)
    known = set().union(*found, *words)
    for path in static.rglob("*.css"):
        text = prune_css.purge(path.read_text(encoding="utf-8"), known)
        path.write_text(text, encoding="utf-8")
