"""The site as it is read: what a page loads, its icons, what is folded or copied."""

import gzip
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import myst_nb
import pydata_sphinx_theme
import pytest
import sphinx
import sphinx_book_theme

from book.draw.svg import HUES
from book.publish.assemble import assemble
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


@pytest.fixture(scope="module")
def published(site, tmp_path_factory):
    """The folder of the same book as it is published."""
    folder = tmp_path_factory.mktemp("published") / "site"
    assemble(folder, [site.html])
    return folder


def pages(folder):
    """The tags of each page in a folder."""
    return {p: Tags(p.read_text()) for p in sorted(folder.glob("*.html"))}


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


def test_a_build_edits_no_file_of_sphinx_or_the_theme(site):
    """After two builds there are the files of the packages, byte by byte."""
    themes = [Path(sphinx.__file__).parent / "themes" / "basic"]
    for package in pydata_sphinx_theme, sphinx_book_theme:
        themes.append(Path(package.__file__).parent / "theme" / package.__name__)
    static, wanted = site.html / "_static", {}
    for theme in themes:
        for path in (theme / "static").rglob("*"):
            shown = not path.name.startswith(".") and path.suffix != ".jinja"
            if shown and path.is_file():
                wanted[static / path.relative_to(theme / "static")] = path
    [cells] = static.glob("mystnb.*.css")
    wanted[cells] = Path(myst_nb.__file__).parent / "static" / "mystnb.css"
    assert len(wanted) > 20
    other = [
        str(path)
        for path, source in wanted.items()
        if not path.exists() or path.read_bytes() != source.read_bytes()
    ]
    assert other == []


def test_the_index_of_words_is_sphinxs_own(site):
    text = (site.html / "searchindex.js").read_text()
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    assert {"envversion", "docnames", "terms", "titleterms", "alltitles"} <= set(index)
    assert index["alltitles"]["Words"] == [[index["docnames"].index("words"), None]]


def test_a_first_view_is_small_on_every_page(published):
    for page, tags in pages(published).items():
        files = loads(page, tags)
        sizes = {p.name: len(gzip.compress(p.read_bytes(), 6)) for p in files}
        # What stands on a page, or in the index, is 80 kB at the most: the rest of
        # 150 kB is the frame.
        allowed = 90_000 if page.name == "search.html" else 70_000
        assert sum(sizes.values()) < allowed, (page.name, sizes)
        assert len(files) < 22, (page.name, sorted(sizes))
        styles = (path for path in files if path.suffix == ".css")
        assert [path for path in styles if "@import" in path.read_text()] == []


def test_a_page_says_its_name_in_no_script_of_its_own(
    published,
):
    for page in pages(published):
        text = page.read_text()
        assert "pagename = '" not in text
        assert text.count("data-pagename=") == 1, page.name


@cache
def compressed(path):
    """How many bytes of a file are sent."""
    return len(gzip.compress(path.read_bytes(), 6))


def test_a_first_view_of_the_whole_book_is_under_150_kilobytes(tmp_path):
    """The page of the search may take 240.

    The words of all pages are 90 of them, headings and questions are 70, and both grow
    with the book.
    """
    built, folder = REAL / "docs/_build/html", tmp_path / "site"
    if not (built / "search.html").exists():
        pytest.skip("there is no built site: nox -s docs")
    assemble(folder, [built])
    heavy = {}
    for page in folder.rglob("*.html"):
        files = loads(page, Tags(page.read_text())) | {page}
        name = page.relative_to(folder).as_posix()
        heavy[name] = sum(map(compressed, files))
    index = heavy.pop("search.html")
    assert {name: size for name, size in heavy.items() if size >= 150_000} == {}
    assert index < 240_000


def test_the_logo_is_eight_devices_in_the_colours_of_the_figures():
    logo = (REAL / "docs/_static/logo.svg").read_text()
    assert tuple(re.findall(r'fill="(#\w+)"', logo)) == HUES


def test_the_index_of_words_is_loaded_on_the_search_page_only(site):
    using = [
        page.name
        for page, tags in pages(site.html).items()
        if any("searchindex" in str(a.get("src")) for a in tags.all("script"))
    ]
    assert using == ["search.html"]


def test_nothing_unused_is_published(published):
    names = {str(path.relative_to(published)) for path in published.rglob("*")}
    bad = re.compile(r"fontawesome|bootstrap|macros|\.map$|\.woff2?$|locales|vendor")
    assert sorted(filter(bad.search, names)) == []
    for path in published.rglob("*.css"):
        assert "@font-face" not in path.read_text(), path
    for path in published.glob("_static/scripts/*.js"):
        assert "sourceMappingURL" not in path.read_text(), path


def test_every_icon_in_use_is_drawn(site):
    css = (REAL / "docs/_static/book.css").read_text()
    drawn = set(re.findall(r"\.(fa-[\w-]+)[^{}]*\{\s*--icon:", css))
    for block in re.findall(r"((?:\.fa-[\w-]+,?\s*)+)\{\s*--icon:", css):
        drawn |= set(re.findall(r"fa-[\w-]+", block))
    used = {
        name
        for tags in pages(site.html).values()
        for attrs in tags.all("i", "span")
        for name in (attrs.get("class") or "").split()
        if name.startswith("fa-")
    }
    assert used >= {"fa-bars", "fa-download", "fa-expand", "fa-github", "fa-lightbulb"}
    assert used - drawn == {"fa-solid", "fa-lg", "fa-fw"}


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
