"""The site as it is read: what a page loads, its icons, what is folded or copied."""

import gzip
import json
import re
from functools import cache
from html.parser import HTMLParser

import pytest

from book.draw.svg import HUES
from book.publish import prune_assets
from tests.conftest import REAL, Book

REPOSITORY = 'html_theme_options |= {"repository_url": "https://github.com/a/b", '
REPOSITORY += '"use_repository_button": True, "use_issues_button": True}\n'
PROSE = """
:::{admonition} In short
A note.
:::

::::{tab-set}
:::{tab-item} One
| a | b |
| --- | --- |
| 1 | 2 |
:::
:::{tab-item} Two
Text.
:::
::::

Text with a note.[^1]

[^1]: In the margin.

```{literalinclude} ../examples/double.py
```
"""


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Keep a tag."""
        self.found.append((tag, dict(attrs)))

    def all(self, *names):
        """The attributes of the tags called one of `names`."""
        return [attrs for tag, attrs in self.found if tag in names]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A book of two pages in the real theme, built twice."""
    book = Book(tmp_path_factory.mktemp("site"), conf=REPOSITORY)
    book.write("examples/double.py", "def double(x):\n    return 2 * x\n")
    book.page(
        "read",
        "x = 1\nassert x",
        ":tags: [hide-input]\n:mystnb: "
        '{code_prompt_show: "Show a & b", code_prompt_hide: "Hide"}\n2',
        ":tags: [hide-output]\nprint('long')",
        prose=PROSE,
    )
    book.write("docs/words.md", "# Words\n\nOnly words.\n")
    book.write("docs/record.md", "# Record\n\n```{record}\n```\n")
    book.index("read", "words", "record")
    built = book.build()
    assert built.code == 0, built.said
    again = book.build()
    assert again.code == 0, again.said
    return book


def pages(book):
    """The tags of each built page."""
    return {p: Tags(p.read_text()) for p in sorted(book.html.glob("*.html"))}


def loads(page, tags):
    """The files that a browser fetches for a page, in any theme."""
    links = [a for a in tags.all("link") if a.get("rel") in ("stylesheet", "icon")]
    names = [a["href"] for a in links]
    names += [a["src"] for a in tags.all("script", "img") if "src" in a]
    files, queue = set(), [(page, name) for name in names]
    while queue:
        at, name = queue.pop()
        assert "//" not in name, f"{page.name} asks another host for {name}"
        path = (at.parent / name.split("?")[0]).resolve()
        if path not in files:
            files.add(path)
            imported = re.findall(r'@import\s*(?:url\()?["\']?([^"\')]+)', text(path))
            fonts = re.findall(r"src:url\(([^)]+)\)", text(path))
            queue += [(path, found) for found in imported + fonts]
    return files


def text(path):
    """The text of a stylesheet; nothing of another file."""
    return path.read_text() if path.suffix == ".css" else ""


def test_a_first_view_is_small_on_every_page(site):
    for page, tags in pages(site).items():
        files = loads(page, tags)
        sizes = {p.name: len(gzip.compress(p.read_bytes(), 6)) for p in files}
        # What stands on a page, or in the index, is 80 kB at the most: the rest of
        # 150 kB is the frame.
        allowed = 90_000 if page.name == "search.html" else 70_000
        assert sum(sizes.values()) < allowed, (page.name, sizes)
        assert len(files) < 22, (page.name, sorted(sizes))
        styles = (path for path in files if path.suffix == ".css")
        assert [path for path in styles if "@import" in path.read_text()] == []


@cache
def compressed(path):
    """How many bytes of a file are sent."""
    return len(gzip.compress(path.read_bytes(), 6))


def test_a_first_view_of_the_whole_book_is_under_150_kilobytes():
    """The page of the search may take 160, for its index grows with the book."""
    built = REAL / "docs/_build/html"
    if not (built / "search.html").exists():
        pytest.skip("there is no built site: nox -s docs")
    heavy = {}
    for page in built.rglob("*.html"):
        if not page.relative_to(built).parts[0].startswith("_"):
            files = loads(page, Tags(page.read_text())) | {page}
            heavy[page.name] = sum(map(compressed, files))
    index = heavy.pop("search.html")
    assert {name: size for name, size in heavy.items() if size >= 150_000} == {}
    assert index < 160_000


def test_the_logo_is_eight_devices_in_the_colours_of_the_figures():
    logo = (REAL / "docs/_static/logo.svg").read_text()
    assert tuple(re.findall(r'fill="(#\w+)"', logo)) == HUES


def test_the_index_of_words_is_loaded_on_the_search_page_only(site):
    using = [
        page.name
        for page, tags in pages(site).items()
        if any("searchindex" in str(a.get("src")) for a in tags.all("script"))
    ]
    assert using == ["search.html"]


def test_nothing_unused_is_published(site):
    published = {str(p.relative_to(site.html)) for p in site.html.rglob("*")}
    bad = re.compile(r"fontawesome|bootstrap|macros|\.map$|\.woff2?$|locales|vendor")
    assert sorted(filter(bad.search, published)) == []
    for path in site.html.rglob("*.css"):
        assert "@font-face" not in path.read_text(), path
        assert not re.search("[\ue000-\uf8ff]", path.read_text()), path


def test_every_icon_in_use_is_drawn(site):
    css = (REAL / "docs/_static/book.css").read_text()
    drawn = set(re.findall(r"\.(fa-[\w-]+)[^{}]*\{\s*--icon:", css))
    for block in re.findall(r"((?:\.fa-[\w-]+,?\s*)+)\{\s*--icon:", css):
        drawn |= set(re.findall(r"fa-[\w-]+", block))
    used = {
        name
        for tags in pages(site).values()
        for attrs in tags.all("i", "span")
        for name in (attrs.get("class") or "").split()
        if name.startswith("fa-")
    }
    assert used >= {"fa-bars", "fa-download", "fa-expand", "fa-github", "fa-lightbulb"}
    assert used - drawn == {"fa-solid", "fa-lg", "fa-fw"}


def test_glyphs_go_and_other_rules_stay():
    kept = ".fa-lg{font-size:1.25em}a:after{content:var(--pst-icon-x)}"
    glyphs = '.fa-a,.fa-b{--fa:"\uf0f3"}@font-face{src:url(x.woff2)}'
    assert prune_assets.styles(glyphs + kept) == kept
    assert prune_assets.styles('html{--pst-icon-x:"\\f0f3"}') == 'html{--pst-icon-x:""}'


def test_the_header_has_what_readers_know(site):
    tags = Tags(site.text("read"))
    links = [a.get("href") for a in tags.all("a")]
    assert "https://github.com/a/b" in links
    assert any(str(link).startswith("https://github.com/a/b/issues/") for link in links)
    assert (site.html / "_sources/read.md").exists() and "_sources/read.md" in links
    titles = {a.get("title") for a in tags.all("button", "div")}
    assert {"Fullscreen mode", "Color mode", "Search", "Print to PDF"} <= titles
    assert "github" not in (REAL / "docs/conf.py").read_text().split("html_theme =")[1]


def test_the_footer_says_what_one_may_do_with_the_book(site):
    footer = site.text("words").partition('<footer class="bd-footer-content">')[2]
    assert 'href="https://www.apache.org/licenses/LICENSE-2.0"' in footer
    assert 'href="https://github.com/a/b"' in footer


def test_no_place_is_kept_for_advertisements(site):
    assert "ethical" not in site.text("read")


def test_a_folded_part_is_called_what_one_sees(site):
    page = site.text("read")
    assert 'aria-label="Toggle' not in page
    assert '<span class="closed">Show a &amp; b</span>' in page
    assert len(re.findall(r'<details class="[^"]*folded', page)) == 3


def test_programs_are_beside_the_page_and_not_in_it(site):
    script = (site.html / "_static/programs/read.js").read_text()
    programs = json.loads(script.removeprefix("var programs = ").rstrip(";\n"))
    tags = Tags(site.text("read"))
    named = [a["id"] for _, a in tags.found if "runnable" in (a.get("class") or "")]
    assert sorted(named) == sorted(programs) == ["cell1", "cell2", "cell3", "listing1"]
    assert "<template" not in site.text("read")
    assert not (site.html / "_static/programs/words.js").exists()


def test_a_web_server_may_read_every_file(site, tmp_path):
    (tmp_path / "plain").touch()
    may_read = (tmp_path / "plain").stat().st_mode & 0o444
    files = [path for path in site.html.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".html", ".js", ".ipynb", ".py", ".md"}
    assert [path for path in files if path.stat().st_mode & 0o444 != may_read] == []


def test_the_last_line_leads_to_the_record(site):
    [line] = re.findall(r'<p class="provenance">(.*?)</p>', site.text("read"))
    assert 'href="record.html#record-read"' in line
    [row] = re.findall(
        r'<tr[^>]* id="record-read">(.*?)</tr>', site.text("record"), re.S
    )
    assert 'href="read.html"' in row
    assert "provenance" not in site.text("words")
