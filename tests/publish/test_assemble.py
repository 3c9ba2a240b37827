"""Books of several releases of JAX become one site."""

import json
import zipfile
from xml.etree import ElementTree

import pytest

from book.publish import assemble

HEAD = """<link rel="canonical" href="https://book.example/{0}" />
<script>go()</script></head>
<button onclick="print(&quot;all&quot;)">Print</button><article class="bd-article">"""


@pytest.fixture
def build(tmp_path):
    """Make a built book of a release of JAX."""

    def make(release, head=HEAD):
        folder = tmp_path / f"built-{release}"
        (folder / "_static").mkdir(parents=True)
        (folder / ".doctrees").mkdir()
        (folder / ".doctrees" / "index.doctree").write_text("paths")
        (folder / "vmap").mkdir()
        for name in "index.html", "vmap/axes.html", "search.html":
            (folder / name).write_text(f"{head.format(name)}JAX {release}")
        (folder / "record.json").write_text(json.dumps({"jax": release}))
        return folder

    return make


def test_the_newest_is_at_the_root_and_the_others_are_in_folders(tmp_path, build):
    site = tmp_path / "site"
    books = [build("0.10.2"), build("0.12.0.1"), build("0.9.1")]
    assert assemble.assemble(site, books) == ["0.12.0.1", "0.10.2", "0.9.1"]
    assert "JAX 0.12.0.1" in (site / "vmap/axes.html").read_text()
    assert "JAX 0.10.2" in (site / "jax-0.10.2/vmap/axes.html").read_text()
    assert not list(site.rglob("*.doctree"))


def test_each_book_knows_the_others(tmp_path, build):
    assemble.assemble(tmp_path / "site", [build("0.10.2"), build("0.12.0.1")])
    for folder, here, root in ("", "0.12.0.1", ""), ("jax-0.10.2/", "0.10.2", "../"):
        text = (tmp_path / "site" / folder / "_static/versions.js").read_text()
        told = json.loads(text.removeprefix("window.versions = ").rstrip(";\n"))
        assert told == {
            "here": here,
            "root": root,
            "all": [["0.12.0.1", ""], ["0.10.2", "jax-0.10.2/"]],
            "archive": assemble.ARCHIVE,
        }
        assert (tmp_path / "site" / assemble.ARCHIVE).is_file()


def test_old_pages_name_the_newest_however_they_were_built(tmp_path, build):
    bare = '<head></head><article class="bd-article">'
    assemble.assemble(tmp_path / "site", [build("0.10.2", bare), build("0.12.0.1")])
    old = (tmp_path / "site/jax-0.10.2/vmap/axes.html").read_text()
    assert '<link rel="canonical" href="https://book.example/vmap/axes.html">' in old
    assert 'href="../../vmap/axes.html">The same page with JAX 0.12.0.1' in old
    assert "older" not in (tmp_path / "site/vmap/axes.html").read_text()


def test_the_sitemap_has_the_newest_pages_by_their_addresses(tmp_path, build):
    assemble.assemble(tmp_path / "site", [build("0.10.2"), build("0.12.0.1")])
    found = ElementTree.parse(tmp_path / "site" / "sitemap.xml").getroot()
    assert [place.text for place in found.findall(".//{*}loc")] == [
        "https://book.example/index.html",
        "https://book.example/vmap/axes.html",
    ]


def test_without_an_address_there_is_no_sitemap(tmp_path, build):
    assemble.assemble(tmp_path / "site", [build("0.12.0.1", head="")])
    assert not (tmp_path / "site" / "sitemap.xml").exists()


def test_the_policy_names_the_scripts_that_stand_in_pages(tmp_path, build):
    assemble.assemble(tmp_path / "site", [build("0.12.0.1")])
    policy = (tmp_path / "site" / "_headers").read_text()
    go = "'sha256-5KYv+PUboo5h+0+YAtGRPbwv5d/QxzHslP4YGnUaxRw='"  # of go()
    click = "'sha256-3u8cM1KI+2mmNUUXIWkj1pF2Xl7vkEm1SHWxyBnF4sM='"  # of print("all")
    said = policy.partition("script-src ")[2].partition(";")[0].split()
    assert {"'self'", go, click} <= set(said)
    assert "'unsafe-inline'" not in said


def test_the_policy_lets_a_missing_page_say_where_its_links_begin(tmp_path, build):
    book = build("0.12.0.1")
    (book / "404.html").write_text('<base href="/book/404.html">')
    assemble.assemble(tmp_path / "site", [book])
    rules = (tmp_path / "site" / "_headers").read_text().strip().split("; ")
    assert "base-uri 'self'" in rules


def test_the_archive_has_the_newest_book(tmp_path, build):
    assemble.assemble(tmp_path / "site", [build("0.10.2"), build("0.12.0.1")])
    with zipfile.ZipFile(tmp_path / "site" / assemble.ARCHIVE) as archive:
        assert "vmap/axes.html" in archive.namelist()
        assert b"JAX 0.12.0.1" in archive.read("index.html")
        assert not [name for name in archive.namelist() if "doctree" in name]


def test_a_site_that_was_there_is_made_anew(tmp_path, build):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "gone.html").touch()
    assemble.assemble(tmp_path / "site", [build("0.12.0.1")])
    assert not (tmp_path / "site" / "gone.html").exists()


def test_what_is_no_book_is_named(tmp_path, build):
    one = build("0.12.0.1")
    with pytest.raises(assemble.NoBook, match="elsewhere is no built book"):
        assemble.assemble(tmp_path / "site", [one, tmp_path / "elsewhere"])
    with pytest.raises(assemble.NoBook, match=r"both of JAX 0\.12\.0\.1"):
        assemble.assemble(tmp_path / "site", [one, one])


def test_what_was_built_stays_as_it_is(tmp_path, build):
    def files(folder):
        found = [path for path in folder.rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in found}

    old, new = build("0.10.2"), build("0.12.0.1")
    for book in old, new:
        (book / "_static" / "book.css").write_text(".nowhere { color: red }")
    before = files(old) | files(new)
    assemble.assemble(tmp_path / "site", [old, new])
    assert files(old) | files(new) == before
    assert (tmp_path / "site" / "_static" / "book.css").read_text() == ""
