"""What a reader does in a browser works: search, theme, keyboard, no script."""

import json
import shutil

import pytest

from book.publish import assemble
from book.publish.prune_assets import prune
from tests.browser.conftest import BUILT, DESKTOP, HTML, PHONE

# How each element, and what stands before and after it, is drawn, and where.
LOOKS = """(() => {
  const names = `content color background border border-radius box-shadow outline
    opacity font text-decoration text-transform white-space list-style cursor
    display visibility position overflow z-index padding margin transform
    mask-image`.split(/\\s+/);
  return [...document.body.querySelectorAll("*")].map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    const styles = ["", "::before", "::after"].map((part) => {
      const style = getComputedStyle(one, part);
      if (part && ["none", "normal"].includes(style.content)) return "";
      return names.map((name) => `${name}: ${style.getPropertyValue(name)}`).join("; ");
    });
    return [one.tagName, one.className, x, y, width, height, ...styles].join(" ");
  });
})()"""
SAMPLE = "vmap/axes.html", "collectives/psum.html", "errors/rank_at_least.html"


@pytest.mark.parametrize("query", ["vmap got inconsistent sizes", "psum_scatter"])
def test_the_search_finds_and_leads_to_a_page(opened, query):
    page = opened(f"search.html?q={query.replace(' ', '+')}")
    first = page.locator("#search-results li a").first
    first.wait_for()
    first.click()
    assert page.locator("article h1").count() == 1


def test_a_word_of_a_figure_is_marked_on_the_page_that_has_it(opened):
    page = opened(f"{SAMPLE[0]}?highlight=column")
    assert page.locator("svg title tspan").count()
    assert page.locator("article p .highlighted").first.is_visible()


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


@pytest.fixture(scope="module")
def pruned(tmp_path_factory):
    """The built site without what its pages do not use."""
    folder = tmp_path_factory.mktemp("pruned") / "html"
    shutil.copytree(BUILT, folder)
    prune(folder)
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("name", [*SAMPLE, "index.html", "search.html", "404.html"])
def test_a_page_looks_the_same_with_what_it_does_not_use(
    chromium, pruned, name, size, scheme
):
    def looks(folder):
        view = {"width": size[0], "height": size[1]}
        context = chromium.new_context(viewport=view, color_scheme=scheme)
        page, fonts = context.new_page(), []
        page.on("request", lambda asked: "woff" in asked.url and fonts.append(asked))
        page.goto(f"{(folder / name).as_uri()}?highlight=axis")
        page.add_style_tag(content="* { transition: none !important }")
        found = page.evaluate(LOOKS)
        context.close()
        assert fonts == []
        return found

    assert looks(BUILT) == looks(pruned)


def test_a_page_of_an_older_release_leads_to_the_newest(chromium, tmp_path):
    old, site = tmp_path / "old", tmp_path / "site"
    shutil.copytree(BUILT, old)
    (old / "record.json").write_text(json.dumps({"jax": "0.1.0"}))
    assemble.assemble(site, [old, BUILT])
    page = chromium.new_page()
    page.goto((site / "jax-0.1.0" / SAMPLE[0]).as_uri())
    page.get_by_text("This page is of an older release, JAX 0.1.0").wait_for()
    page.get_by_role("link", name="The same page with").click()
    assert page.url == (site / SAMPLE[0]).as_uri()
    archive = page.get_by_role("link", name="Read it offline").evaluate("a => a.href")
    assert archive == (site / assemble.ARCHIVE).as_uri()
    page.get_by_role("link", name="JAX 0.1.0").click()
    assert page.url == (site / "jax-0.1.0" / SAMPLE[0]).as_uri()
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
def test_without_a_script_everything_can_be_read_and_nothing_is_dead(opened, name):
    page = opened(name, PHONE, java_script_enabled=False)
    text = page.locator("article").inner_text()
    assert len(text.split()) > 150
    assert page.get_by_role("button").count() == 0
    assert page.get_by_role("link", name=".ipynb").is_visible()
    chapters = page.get_by_role("navigation", name="Main")
    assert chapters.get_by_role("link", name="Collectives").is_visible()
    page.locator("article summary").first.click()
    assert page.locator("article details[open] pre").first.is_visible()


def test_a_missing_page_works_at_any_depth(opened, site):
    page = opened("index.html")
    policy = page.request.get(page.url).headers["content-security-policy"]
    # With an address a build writes `<base>`, which the policy has to let be.
    text = (HTML / "404.html").read_text()
    text = text.replace("<head>", '<head><base href="/404.html">', 1)
    headers = {"Content-Type": "text/html", "Content-Security-Policy": policy}
    page.route("**/gone.html", lambda asked: asked.fulfill(body=text, headers=headers))
    page.goto(f"{site}/vmap/deep/gone.html")
    assert page.evaluate("document.baseURI") == f"{site}/404.html"
    assert page.evaluate("[...document.styleSheets].length") > 2
    page.get_by_role("link", name="The front page").click()
    assert page.url == f"{site}/index.html"


def test_wide_code_has_a_shadow_where_it_goes_on(opened):
    page = opened(SAMPLE[0], PHONE)
    code = page.locator("article pre").first
    assert code.evaluate("one => one.scrollWidth > one.clientWidth")
    covers = "one => getComputedStyle(one).backgroundAttachment"
    assert code.evaluate(covers).startswith("local, local, scroll, scroll")
