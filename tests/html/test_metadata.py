"""What a page says of itself elsewhere: its description, its address, its card."""

import re

import pytest

from tests.conftest import Book

LONG = "The second one is much longer than that, " * 5
LEAD = f"The first *sentence*, e.g. of `jax`. {LONG}and ends."
BASE = "https://someone.github.io/book/"


def made(folder, *options):
    """A book of a page with a figure, in the real theme, built with `options`."""
    book = Book(folder, conf="")
    draw = ":tags: [remove-input]\nfrom IPython.display import HTML\n"
    draw += """HTML('<svg viewBox="0 0 9 9"><rect width="9" height="9"/></svg>')"""
    book.page("page", draw, prose=LEAD)
    book.write("docs/errors/which_message.md", "# Messages\n\nText.\n")
    book.write("docs/evidence/timeline.md", "# Names\n\nText.\n")
    book.index("page", "errors/which_message", "evidence/timeline")
    built = book.build(*options)
    assert built.code == 0, built.said
    return book


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory):
    """The book without an address."""
    return made(tmp_path_factory.mktemp("head"))


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    """The book with an address."""
    return made(tmp_path_factory.mktemp("head"), "-D", f"html_baseurl={BASE}")


def meta(text, name):
    """The content of a page's `meta` called `name`."""
    found = re.search(rf'<meta (?:name|property)="{name}" content="(.*?)"', text)
    return found and found[1]


def test_without_an_address_a_page_is_described_and_has_none(nowhere):
    text = nowhere.text("page")
    assert meta(text, "description") == "The first sentence, e.g. of jax."
    assert meta(text, "og:title") == "Page"
    assert "canonical" not in text and meta(text, "og:url") is None
    assert meta(text, "og:image") is None
    assert "<base" not in nowhere.text("404")
    assert meta(nowhere.text("search"), "description").startswith("Search ")
    assert meta(nowhere.text("search"), "og:title") == "Search"
    assert meta(nowhere.text("404"), "description").startswith("There is no page ")
    assert meta(nowhere.text("404"), "og:title") == "Page not found"


def test_a_page_says_once_how_wide_it_is(nowhere):
    for name in "page", "404", "search":
        assert nowhere.text(name).count('name="viewport"') == 1


def test_with_an_address_each_page_knows_its_own(placed):
    text = placed.text("page")
    assert f'<link rel="canonical" href="{BASE}page.html"' in text
    assert meta(text, "og:url") == f"{BASE}page.html"
    image = meta(text, "og:image")
    assert image.startswith(BASE)
    picture = (placed.html / image.removeprefix(BASE)).read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    size = [int.from_bytes(picture[at : at + 4]) for at in (16, 20)]
    said = [int(meta(text, f"og:image:{side}")) for side in ("width", "height")]
    assert size == said == [1200, 630]
    assert meta(text, "og:image:alt").startswith("One Function, Many Devices: ")


def test_a_missing_page_leads_back_from_any_depth(placed):
    text = placed.text("404")
    assert text.index('<base href="/book/404.html">') < text.index("<link")
    assert 'action="search.html"' in text
    links = re.findall(r'href="([^"#:]+\.html)"', text)
    assert "errors/which_message.html" in links
    missing = [link for link in links if not (placed.html / link).exists()]
    assert missing == ["/book/404.html"]
