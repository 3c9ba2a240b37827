"""Pages that there are in two languages lead to each other; older releases have one."""

import re

import pytest

from book.publish import assemble, languages

PAGE = """<head>{0}</head><div class="article-header-buttons"></div>
<article class="bd-article">"""
ADDRESS = "https://book.example/"
CANONICAL = f'<link rel="canonical" href="{ADDRESS}{{0}}" />'


@pytest.fixture
def built(tmp_path):
    """A built book with a page in Chinese, and one that is in English alone."""

    def make(release, address=CANONICAL):
        folder = tmp_path / f"built-{release}"
        for name in "index", "vmap/axes", "vmap/loops", "zh_CN/vmap/axes":
            path = folder / f"{name}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(PAGE.format(address.format(f"{name}.html")))
        for place in folder, folder / "zh_CN":
            (place / "_static").mkdir()
            (place / "record.json").write_text(f'{{"jax": "{release}"}}')
        return folder

    return make


def switch(path):
    """What the header of a page has: the language, and where it leads."""
    found = r'buttons">\s*<a class="language" lang="(.*?)" hreflang="\1" href="(.*?)">'
    return re.findall(found, path.read_text())


def test_pages_lead_to_the_same_page_in_the_other_language(tmp_path, built):
    assemble.assemble(tmp_path / "site", [built("0.12.0")])
    site = tmp_path / "site"
    assert switch(site / "vmap/axes.html") == [("zh-CN", "../zh_CN/vmap/axes.html")]
    assert switch(site / "zh_CN/vmap/axes.html") == [("en", "../../vmap/axes.html")]
    assert switch(site / "vmap/loops.html") == switch(site / "index.html") == []
    for name in "vmap/axes.html", "zh_CN/vmap/axes.html":
        text = (site / name).read_text().partition("</head>")[0]
        assert re.findall('rel="alternate" hreflang="(.*?)" href="(.*?)"', text) == [
            ("en", f"{ADDRESS}vmap/axes.html"),
            ("zh-CN", f"{ADDRESS}zh_CN/vmap/axes.html"),
        ]
    assert f"{ADDRESS}zh_CN/vmap/axes.html" in (site / "sitemap.xml").read_text()
    assert '"root": "../"' in (site / "zh_CN/_static/versions.js").read_text()


def test_without_an_address_search_engines_are_told_nothing(tmp_path, built):
    assemble.assemble(tmp_path / "site", [built("0.12.0", address="")])
    page = tmp_path / "site/vmap/axes.html"
    assert "alternate" not in page.read_text() and switch(page)


def test_an_older_release_comes_in_english(tmp_path, built):
    assemble.assemble(tmp_path / "site", [built("0.12.0"), built("0.10.2")])
    older = tmp_path / "site/jax-0.10.2"
    assert (older / "vmap/axes.html").is_file() and not (older / "zh_CN").exists()
    assert switch(older / "vmap/axes.html") == []


def test_each_language_that_is_built_has_a_name():
    root = assemble.ROOT / "docs" / "locale"
    assert {path.name for path in root.glob("*/")} <= languages.NAMES.keys()
