"""Put built books together to one site: the newest JAX at its root, others in folders.

    python -m book.publish.assemble SITE HTML [HTML...]

Each `HTML` is what `nox -s docs` made with one JAX, and stays as it is: what is changed
for a server is changed in the copy.  Assets that no page uses are left out, and a file
that holds a path of this machine stops it.  Beside the pages the site has `sitemap.xml`
(with an address, `html_baseurl`), `_headers` for servers that read it, a `.zip` to read
offline, and in `_static/versions.js` the other JAX releases, between which every page
then lets a reader choose.  A page of an older one says that it is old, and names the
newest as the one for search engines.  The languages that the newest was built in come
along, in folders of their own, and their pages and the English ones lead to each other.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import html
import json
import re
import shutil
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from book.directives.build_record import RECORD
from book.files import local_strings
from book.publish import languages, older_release
from book.publish.privacy_check import NotPrivate, check
from book.publish.prune_assets import prune

ROOT = Path(__file__).parents[3]  # of the repository
ARCHIVE = "one-function-many-devices.zip"
_CANONICAL = re.compile(r'<link rel="canonical" href="([^"]+)"')
_INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
_HANDLER = re.compile(r'<[^>]*?\son[a-z]+="([^"]*)"')
_NAME = re.compile(r"<script>DOCUMENTATION_OPTIONS\.pagename = '([^']*)';</script>")
_OPTIONS = "documentation_options.js"
_NAMING = "DOCUMENTATION_OPTIONS.pagename = document.currentScript.dataset.pagename;\n"
_NO_PAGES = {"genindex", "search", "404"}


class NoBook(Exception):
    """A folder is no built book, or two are of the same JAX; the text says which."""


def assemble(site: Path, built: list[Path]) -> list[str]:
    """Make the folder `site` of the `built` books; the releases of JAX, newest first.

    What was in `site` before is gone.  Raises `NoBook`, and `NotPrivate`; then there is
    no `site`.
    """
    books = _by_release(built)
    shutil.rmtree(site, ignore_errors=True)
    try:
        _fill(site, books)
    except NotPrivate:
        shutil.rmtree(site)
        raise
    return [*books]


def _fill(site: Path, books: dict[str, Path]) -> None:
    """Write the site of the `books`, the newest of which comes first."""
    newest, *older = books
    _copy(books[newest], site)
    translated = languages.folders(books[newest])
    for language in translated:
        _copy(books[newest] / language, site / language)
        languages.link(site, language, _address(site))
    archive = shutil.make_archive(str(site.with_suffix("")), "zip", site)
    Path(archive).rename(site / ARCHIVE)
    pages, address = _pages(site), _address(site)
    for release in older:
        _copy(books[release], site / f"jax-{release}")
        older_release.tell(site, f"jax-{release}", release, newest, address)
    _offer(site, newest, older, translated)
    if address:
        (site / "sitemap.xml").write_text(_sitemap(address, pages), encoding="utf-8")
        robots = f"User-agent: *\nSitemap: {address}sitemap.xml\n"
        (site / "robots.txt").write_text(robots, encoding="utf-8")
    _name_pages_in_attributes(site)
    (site / "_headers").write_text(f"/*\n  {policy(site)}\n", encoding="utf-8")
    (site / ".nojekyll").touch()  # GitHub Pages leaves out _static otherwise


def _name_pages_in_attributes(site: Path) -> None:
    """Let a page say its name in an attribute, which Sphinx's script of options reads.

    The theme writes a script of its own into each page, and each would need its digest
    in the policy: a header longer than the 16 kB that many servers and browsers allow.
    """
    for path in site.rglob(_OPTIONS):
        path.write_text(path.read_text(encoding="utf-8") + _NAMING, encoding="utf-8")
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        if found := _NAME.search(text):
            named = rf'<script data-pagename="{found[1]}" \1'
            tag = rf'<script (src="[^"]*{re.escape(_OPTIONS)})'
            text = re.sub(tag, named, text.replace(found[0], "", 1), count=1)
            path.write_text(text, encoding="utf-8")


def policy(site: Path) -> str:
    """The Content-Security-Policy header under which all pages of `site` work.

    Only the site's own files are loaded.  Scripts that stand in pages, and those of
    the theme's buttons, are named by their digest; styles may stand in pages, for
    figures are painted with them.  `<base>` of 404.html leads to the site itself.
    """
    texts = {path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    inline = {script for text in texts for script in _INLINE.findall(text)}
    clicked = {html.unescape(one) for text in texts for one in _HANDLER.findall(text)}
    allowed = sorted(f"'sha256-{_digest(script)}'" for script in inline | clicked)
    rules = (
        "default-src 'none'",
        " ".join(("script-src 'self' 'unsafe-hashes'", *allowed)),
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
    return f"Content-Security-Policy: {'; '.join(rules)}"


def _by_release(built: list[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in built:
        try:
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            release = record["jax"]
        except (OSError, ValueError, KeyError):
            raise NoBook(f"{folder} is no built book: no {RECORD}") from None
        if release in found:
            raise NoBook(f"{found[release]} and {folder} are both of JAX {release}")
        found[release] = folder
    return dict(sorted(found.items(), key=lambda item: _order(item[0]), reverse=True))


def _order(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]


def _copy(book: Path, to: Path) -> None:
    """Copy a book without what is of no use on a server; see that it may go there."""
    others = languages.folders(book)
    ignored = shutil.ignore_patterns(".doctrees", ".buildinfo*", "objects.inv", *others)
    shutil.copytree(book, to, ignore=ignored)
    prune(to)
    check(to, local_strings(ROOT))


def _offer(site: Path, newest: str, older: list[str], translated: list[str]) -> None:
    """Tell every book of the archive, and of the others: [release, its folder]."""
    others = [[newest, ""], *([release, f"jax-{release}/"] for release in older)]
    books = [*others, *([newest, f"{language}/"] for language in translated)]
    for release, folder in books:
        told = {"here": release, "root": "../" if folder else "", "all": others}
        told |= {"archive": ARCHIVE}
        text = f"window.versions = {json.dumps(told)};\n"
        (site / folder / "_static" / "versions.js").write_text(text, encoding="utf-8")


def _pages(site: Path) -> list[str]:
    names = sorted(p.relative_to(site).as_posix() for p in site.rglob("*.html"))
    return [name for name in names if Path(name).stem not in _NO_PAGES]


def _address(site: Path) -> str:
    """Where the site lives, by its front page; nothing where that does not say it."""
    found = _CANONICAL.search((site / "index.html").read_text(encoding="utf-8"))
    return found[1].removesuffix("index.html") if found else ""


def _sitemap(address: str, pages: list[str]) -> str:
    urls = "".join(
        f"<url><loc>{escape(address + name)}</loc></url>\n" for name in pages
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def main(argv: list[str] | None = None) -> None:
    """Read the folders from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("html", type=Path, nargs="+")
    asked = parser.parse_args(argv)
    try:
        releases = assemble(asked.site, asked.html)
    except (NoBook, NotPrivate) as error:
        sys.exit(str(error))
    print(f"{asked.site.resolve()}: JAX {', '.join(releases)}")


if __name__ == "__main__":
    main()
