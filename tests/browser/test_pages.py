"""Every page, at a desk by day and by night, on a phone and on paper."""

import gzip

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import DESKTOP, HTML, PHONE, ROOT, pages

SHOTS = ROOT / "docs" / "_build" / "screenshots"
LIGHTEST = 150_000  # bytes of a first view, compressed
INDEX = 80_000  # more, for the page of the search: its index grows with the book
PAPER = 680, 900  # what is left of A4 between margins of 1.5 cm, at 96 to the inch
OPEN = "document.querySelectorAll('details').forEach((one) => (one.open = true))"
WORDS = """[...document.querySelectorAll("figure.painted svg")].flatMap((svg) => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const words = [...svg.querySelectorAll("text")];
  return words.map((one) => parseFloat(getComputedStyle(one).fontSize) * scale);
})"""
CUT = """[...document.querySelectorAll("article :is(pre, td, svg, p, h1, h2)")]
  .filter((one) => one.checkVisibility() && !one.closest("[hidden]"))
  .filter((one) => {
    const wide = one.scrollWidth > one.clientWidth + 1 && one.tagName === "PRE";
    return wide || one.getBoundingClientRect().right > innerWidth + 1;
  })
  .map((one) => `${one.tagName}: ${one.textContent.trim().slice(0, 60)}`)"""


def keep(page, name, view):
    """Keep a picture of the whole page, to be looked at."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    file = f"{name.removesuffix('.html').replace('/', '-')}-{view}.png"
    page.screenshot(path=SHOTS / file, full_page=True, animations="disabled")
    assert (SHOTS / file).stat().st_size > 5_000


def turn(page, scheme):
    """Let day or night come."""
    page.emulate_media(color_scheme=scheme)
    theme = "scheme => document.documentElement.dataset.theme === scheme"
    page.wait_for_function(theme, arg=scheme)


@pytest.mark.parametrize("name", pages())
def test_axe_finds_nothing_by_day_and_by_night(opened, name):
    page = opened(name, DESKTOP, color_scheme="light", bypass_csp=True)
    for scheme in "light", "dark":
        turn(page, scheme)
        keep(page, name, scheme)
    page.evaluate(OPEN)
    # Before a picture, as the shadows of wide code are one, axe measures no contrast,
    # and while a color changes, it measures one that nobody reads.
    still = "background-image: none !important; transition: none !important"
    page.add_style_tag(content=f"* {{ {still} }}")
    for scheme in "light", "dark":
        turn(page, scheme)
        found = Axe().run(page).response["violations"]
        nodes = {one["id"]: [node["html"] for node in one["nodes"]] for one in found}
        assert (scheme, nodes) == (scheme, {})


@pytest.mark.parametrize("name", pages())
def test_a_page_fits_a_phone_and_is_light(opened, name):
    page = opened(name, PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert min(page.evaluate(WORDS), default=8) >= 8  # pixels
    loaded = "performance.getEntriesByType('resource').map((one) => one.name)"
    urls = {url.split("?")[0] for url in page.evaluate(loaded)}
    root = page.url[: page.url.index("/", 8)]
    files = [HTML / name, *(HTML / url.removeprefix(f"{root}/") for url in urls)]
    files = [path for path in files if path.is_file()]
    size = sum(len(gzip.compress(path.read_bytes(), 6)) for path in files)
    assert size <= LIGHTEST + (INDEX if name == "search.html" else 0)
    keep(page, name, "phone")


@pytest.mark.parametrize("name", pages())
def test_nothing_of_a_page_is_cut_off_on_paper(opened, name):
    page = opened(name, PAPER)
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == []
