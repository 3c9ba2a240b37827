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
from collections.abc import Iterator
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
_MARK = re.compile(r""" "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | [{};] """, re.VERBOSE)
_GROUPS = ("@media", "@supports", "@layer", "@container")
_CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
_CLASSES = re.compile(r"""\bclass=(?:"([^"]*)"|'([^']*)')""")
_INNERMOST = re.compile(r"\([^()]*\)|\[[^\]]*\]")


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
    return "".join(_used(_COMMENT.sub("", css), known))


def _used(css: str, known: set[str]) -> Iterator[str]:
    for prelude, body in _rules(css):
        head = prelude.strip()
        if body is None:
            if head:
                yield f"{head};"
        elif head.startswith(_GROUPS):
            inside = "".join(_used(body, known))
            if inside:
                yield f"{head}{{{inside}}}"
        elif head.startswith("@font-face"):
            continue  # text is in the fonts of the reader's system
        elif head.startswith("@"):
            yield f"{head}{{{body}}}"
        else:
            chosen = [one for one in _selectors(head) if _asks(one) <= known]
            if chosen and body.strip():
                yield f"{','.join(chosen)}{{{body}}}"


def _selectors(head: str) -> Iterator[str]:
    """The selectors of a list; a comma in parentheses does not end one."""
    start = depth = 0
    for mark in re.finditer(r"[(\[\])]|,", head):
        if mark[0] in "([":
            depth += 1
        elif mark[0] in ")]":
            depth -= 1
        elif depth == 0:
            yield head[start : mark.start()]
            start = mark.end()
    yield head[start:]


def _asks(selector: str) -> set[str]:
    """The classes without which `selector` chooses nothing; not those in `:not(…)`."""
    if "\\" in selector:
        return set()  # an escaped name, left alone
    before = None
    while before != selector:
        before, selector = selector, _INNERMOST.sub("", selector)
    return set(_CLASS.findall(selector))


def _rules(css: str) -> Iterator[tuple[str, str | None]]:
    """What stands in front of each outermost block, and the block; None without one."""
    start, depth, opened = 0, 0, 0
    for mark in _MARK.finditer(css):
        if mark[0] == "{":
            if depth == 0:
                opened = mark.start()
            depth += 1
        elif mark[0] == "}":
            depth -= 1
            if depth == 0:
                yield css[start:opened], css[opened + 1 : mark.start()]
                start = mark.end()
        elif mark[0] == ";" and depth == 0:
            yield css[start : mark.start()], None
            start = mark.end()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _rewrite(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
