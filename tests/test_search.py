"""Who pastes a message finds its page among the first three, in the site as built.

`fragments.toml` has what readers paste: whole messages, their middle, with names,
numbers, shapes and paths of their own.  The scripts of the site run as in a browser.
"""

import json
import tomllib
from pathlib import Path

import pytest
from py_mini_racer import MiniRacer

ROOT = Path(__file__).parent.parent
SITE = ROOT / "docs" / "_build" / "html"
FRAGMENTS = tomllib.loads((ROOT / "tests" / "fragments.toml").read_text("utf-8"))
FIRST, SHARE = 3, 0.95
# What the scripts of a search ask of a browser, apart from showing what was found.
BROWSER = """
var window = globalThis, _ready = () => {}, _ = (text) => text;
var document = { getElementById: () => null, querySelectorAll: () => [] };
const SPHINX_HIGHLIGHT_ENABLED = false;
"""
ASK = """
const ask = (query) => JSON.stringify(
  Search._performSearch(...Search._parseQuery(query)).reverse().map((one) => one[0]));
"""


class Site:
    """The search of a built site; a context manager, for an engine has to be ended."""

    def __init__(self, html, own=True):
        self.engine = MiniRacer()
        self.engine.eval(BROWSER)
        scripts = ["_static/searchtools.js", "_static/language_data.js"]
        scripts += ["searchindex.js", *["_static/search.js"] * own]
        for name in scripts:
            self.engine.eval((html / name).read_text(encoding="utf-8"))
        self.engine.eval(ASK)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.engine.close()

    def pages(self, query):
        """The pages found for what is pasted, each once, the best first.

        A field for one line takes the ends of lines away, and puts nothing there.
        """
        line = query.replace("\n", "")
        return [*dict.fromkeys(json.loads(self.engine.call("ask", line)))]


@pytest.fixture(scope="module")
def site():
    """The site that the last build made."""
    if not (SITE / "searchindex.js").is_file():
        pytest.skip("there is no built site: nox -s docs")
    with Site(SITE) as opened:
        yield opened


def rank(site, query, page):
    """On which place a page is found; a large number where it is not."""
    found = site.pages(query)
    return found.index(page) + 1 if page in found else 99


def test_there_are_a_hundred_fragments_of_pages_that_exist():
    assert sum(map(len, FRAGMENTS.values())) >= 100
    names = [name for name in FRAGMENTS if not (ROOT / "docs" / f"{name}.md").is_file()]
    assert names == []
    shelf = {f"errors/{path.stem}" for path in (ROOT / "docs/errors").glob("*.md")}
    assert shelf - set(FRAGMENTS) == set(), "pages that nothing pasted leads to"


def test_a_pasted_message_finds_its_page(site):
    asked = [(page, text) for page, texts in FRAGMENTS.items() for text in texts]
    ranks = {(page, text): rank(site, text, page) for page, text in asked}
    lost = {one: place for one, place in ranks.items() if place > FIRST}
    told = "\n".join(f"{place}: {page}: {text}" for (page, text), place in lost.items())
    assert len(lost) <= (1 - SHARE) * len(ranks), told


SHELF = {
    "sizes": '"inconsistent sizes for array axes to be mapped"',
    "name": '"unbound axis name"',
    "topic": "Choose the axes of vmap",
}


@pytest.fixture(scope="module")
def small(shared):
    """A book of three pages; one has in its text what two have in their titles."""
    for name, title in SHELF.items():
        shared.write(f"docs/{name}.md", f"# {title}\n\nProse about {name}.\n")
    titles = " ".join(SHELF.values()).replace('"', "")
    shared.write("docs/topic.md", f"# {SHELF['topic']}\n\n{titles}\n\n## A batch\n")
    shared.index(*SHELF)
    conf = shared.docs / "conf.py"
    static = f"html_static_path = [{str(ROOT / 'docs/_static')!r}]\n"
    conf.write_text(conf.read_text() + static)
    built = shared.build()
    assert built.code == 0, built.said
    return shared.html


TRACEBACK = """Traceback (most recent call last):
  File "/data/topic/axes/choose.py", line 12, in choose_axes
    jax.vmap(predict)(params)
    ~~~~~~~~^^^^^^^^^
NameError: unbound axis name: batch_17 (0x7f3a)"""


def test_what_is_the_readers_own_hides_no_page(small):
    pasted = "got inconsistent sizes for my_array float32[17,3] axes to be mapped: 4"
    with Site(small) as site:
        assert site.pages(pasted)[0] == "sizes"
        assert site.pages(TRACEBACK)[0] == "name"
        assert site.pages("Choose axes")[0] == "topic"
        assert site.pages("quux_17") == []


def test_the_search_of_sphinx_would_lose_them(small):
    with Site(small, own=False) as site:
        assert site.pages(TRACEBACK) == []


def test_a_section_that_fits_is_where_the_result_leads(small):
    asked = "Search._performSearch(...Search._parseQuery('my batch'))"
    with Site(small) as site:
        found = json.loads(site.engine.eval(f"JSON.stringify({asked})"))
    section = ["topic", "Choose the axes of vmap > A batch", "#a-batch"]
    assert section in [one[:3] for one in found]


def test_the_search_page_has_the_script_behind_those_of_sphinx():
    text = (ROOT / "docs/_templates/search.html").read_text()
    assert text.index("super()") < text.index("_static/search.js")
