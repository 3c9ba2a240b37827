"""What a reader does in a browser works: copy, search, theme, keyboard, print."""

import gzip
import subprocess
import sys

import pytest

from tests.browser.conftest import HTML, PHONE, SHOTS, pages

SAMPLE = "vmap/axes.html", "collectives/psum.html", "errors/rank_at_least.html"
LIGHTEST = 150_000  # bytes of a first view, compressed
KINDS = (
    *("index.html", "vmap/index.html", "search.html", "words.html", "404.html"),
    *SAMPLE,
)


@pytest.mark.parametrize("name", SAMPLE)
def test_copy_puts_on_the_clipboard_what_is_shown(opened, name):
    page = opened(name, permissions=["clipboard-read", "clipboard-write"])
    bars = page.locator(".copy-bar")
    assert bars.count() > 2
    for number in range(3):
        block = bars.nth(number).locator("xpath=..")
        shown = block.locator("pre").first.inner_text()
        block.get_by_role("button", name="Copy:").click()
        page.wait_for_function("document.querySelector('[role=status]').textContent")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.split() == shown.split()


def test_a_copied_program_runs(opened, tmp_path):
    page = opened(SAMPLE[0], permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy runnable:").first.click()
    page.wait_for_function("document.querySelector('[role=status]').textContent")
    program = page.evaluate("navigator.clipboard.readText()")
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-I", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("query", ["vmap got inconsistent sizes", "psum_scatter"])
def test_the_search_finds_and_leads_to_a_page(opened, query):
    page = opened(f"search.html?q={query.replace(' ', '+')}")
    first = page.locator("#search-results li a").first
    first.wait_for()
    first.click()
    assert page.locator("article h1").count() == 1


def test_an_excerpt_is_text_with_the_words_found_and_not_the_heading(opened):
    page = opened("search.html?q=vmap+got+inconsistent+sizes+for+array+axes+of+mine")
    first = page.locator("#search-results li", has=page.locator("p.context")).first
    excerpt = first.locator("p.context")
    excerpt.wait_for()
    assert "sizes" in excerpt.locator(".highlighted").all_inner_texts()
    heading = first.locator("a").inner_text().rpartition(" > ")[2]
    assert heading not in excerpt.inner_text()
    assert "check" not in excerpt.inner_text().split()


def test_the_search_works_from_a_folder(chromium):
    page = chromium.new_page()
    page.goto(f"{(HTML / 'search.html').as_uri()}?q=unbound+axis+name")
    page.locator("#search-results li a").first.wait_for()
    page.close()


def test_the_theme_is_switched_and_remembered(opened):
    page = opened(SAMPLE[0], color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    theme = "document.documentElement.dataset.theme"
    before = page.evaluate(theme), page.evaluate(ground)
    page.get_by_role("button", name="Color mode").click()
    page.get_by_role("button", name="Dark").click()
    after = page.evaluate(theme), page.evaluate(ground)
    assert after[0] == "dark" and after[1] != before[1]
    page.reload()
    assert page.evaluate(theme) == after[0]


def test_a_page_is_walked_by_keyboard(opened):
    page = opened(SAMPLE[0])
    page.keyboard.press("Tab")
    assert "Skip" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    inside = "!!document.activeElement.closest('main, #main-content')"
    assert page.evaluate(inside)
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('details').open")


@pytest.mark.parametrize("name", SAMPLE)
def test_without_a_script_everything_can_be_read(opened, name):
    page = opened(name, java_script_enabled=False)
    text = page.locator("article").inner_text()
    assert len(text.split()) > 150
    assert not page.locator(".copy-bar").count()
    page.locator("article summary").first.click()
    assert page.locator("article details[open] pre").first.is_visible()


@pytest.mark.parametrize("name", pages())
def test_a_page_fits_a_phone_and_is_light(opened, name):
    page = opened(name, PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    loaded = "performance.getEntriesByType('resource').map((one) => one.name)"
    urls = {url.split("?")[0] for url in page.evaluate(loaded)}
    root = page.url[: page.url.index("/", 8)]
    files = [HTML / name, *(HTML / url.removeprefix(f"{root}/") for url in urls)]
    files = [path for path in files if path.is_file()]
    assert sum(len(gzip.compress(path.read_bytes(), 6)) for path in files) <= LIGHTEST


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", pages())
def test_axe_finds_nothing(opened, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened(name, color_scheme=scheme, bypass_csp=True)
    page.evaluate(
        "document.querySelectorAll('details').forEach((d) => (d.open = true))"
    )
    found = axe.run(page).response["violations"]
    nodes = {one["id"]: [node["html"] for node in one["nodes"]] for one in found}
    assert nodes == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_what_pages_look_like(opened, size, scheme):
    """The pictures lie in docs/_build/screenshots, to be looked at."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    for name in KINDS:
        place = {"desktop": (1280, 900), "phone": (375, 740)}[size]
        page = opened(name, place, color_scheme=scheme)
        file = f"{name.removesuffix('.html').replace('/', '-')}-{size}-{scheme}.png"
        page.screenshot(path=SHOTS / file, full_page=True)
        assert (SHOTS / file).stat().st_size > 10_000


def test_a_page_prints_its_folded_answers_and_leaves_its_checks_out(opened, tmp_path):
    page = opened(SAMPLE[0])
    answer = page.locator("article details:not(.checks) pre").first
    assert not answer.is_visible()
    page.emulate_media(media="print")
    assert answer.is_visible()
    assert not page.locator(".checks pre").first.is_visible()
    assert not page.locator(".copy-bar").first.is_visible()
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").stat().st_size > 20_000
