"""Remove what no page of a site uses: assets, rules of stylesheets, parts of the index.

As the theme comes, four fifths of a first view are Font Awesome and rules for other
sites.  The icons in use are drawn by `book.css`, and `_templates` link no script of
Font Awesome's or Bootstrap's, so their files can go, and with them each rule that asks
for a class that stands on no page and in no script.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

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
_MAP = re.compile(r"\n//# sourceMappingURL=\S+\s*$")
_INDEX = re.compile(r"Search\.setIndex\((.*)\)\s*", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# An innermost block, and what is before it.
_RULE = re.compile(r"([^{};]+)\{([^{}]*)\}")
_COMMA = re.compile(r",(?![^()]*(?:\([^()]*\)[^()]*)*\))")  # none in parentheses
# What a selector asks for in `:not(…)` and `[…]` need not be there.
_ASIDE = re.compile(r":[a-z-]+\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\]")
_EMPTY = re.compile(r"@(?:media|supports|layer|container)[^{};]*\{\s*\}")
_CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
_CLASSES = re.compile(r"""\bclass=(?:"([^"]*)"|'([^']*)')""")


def prune(site: Path) -> None:
    """Remove from the folder `site` what its pages do not use; they look as before."""
    static = site / "_static"
    for path in {path for pattern in UNUSED for path in static.glob(pattern)}:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in (static / "scripts").glob("*.js"):
        _rewrite(path, _MAP.sub("\n", _read(path)))
    theme, basic = static / "styles" / "theme.css", static / "basic.css"
    if theme.is_file() and basic.is_file():
        basic.replace(theme)  # which did nothing but import it
    known: set[str] = set()
    for page in site.rglob("*.html"):
        known |= classes(_read(page))
    for script in [*static.glob("*.js"), *static.glob("scripts/*.js")]:
        known |= words(_read(script))
    for path in static.rglob("*.css"):
        _rewrite(path, purge(_read(path), known))
    index = site / "searchindex.js"
    if index.is_file():
        _rewrite(index, without_titles(_read(index)))


def without_titles(index: str) -> str:
    """Sphinx's search index without what `search.js` takes from `sections.js` instead.

    Raises ValueError where it is not an index as Sphinx writes it.
    """
    match = _INDEX.fullmatch(index)
    if match is None:
        raise ValueError("searchindex.js is not as Sphinx writes it")
    found = json.loads(match[1]) | {"alltitles": {}, "titleterms": {}}
    told = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"Search.setIndex({told})"


def classes(page: str) -> set[str]:
    """The classes on a page."""
    found = {double or single for double, single in _CLASSES.findall(page)}
    return set(" ".join(found).split())


def words(script: str) -> set[str]:
    """Every word of a script, which may be a class that it sets."""
    return set(re.findall(r"[\w-]+", script))


def purge(css: str, known: set[str]) -> str:
    """The rules of `css` that ask for no class but those `known`, and for no font."""

    def kept(rule: re.Match[str]) -> str:
        head, body = rule[1].strip(), rule[2]
        if head.startswith("@font-face"):  # text is in the fonts of the reader's system
            return ""
        chosen = [one for one in _COMMA.split(head) if _is_used(one, known)]
        return f"{','.join(chosen)}{{{body}}}" if chosen and body.strip() else ""

    return _EMPTY.sub("", _RULE.sub(kept, _COMMENT.sub("", css)))


def _is_used(selector: str, known: set[str]) -> bool:
    """Whether it asks for no other class; one with an escaped name is left alone."""
    return "\\" in selector or set(_CLASS.findall(_ASIDE.sub("", selector))) <= known


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _rewrite(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
