"""Who pastes a message, or asks in other words, finds the page, in the site as built.

`fragments.toml` has what readers paste: whole messages, their middle, with names,
numbers, shapes and paths of their own; `questions.toml` what they ask in words that no
page has; `queries.toml` the names and topics they know; `questions_zh_CN.toml` what
they ask in Chinese, of the pages that there are in Chinese.  The scripts of the site
run as in a browser.

The book has a search of its own because Pagefind, given the same pages and the
questions of the book's index, found fewer of the fragments and of the names, and fewer
than half of the questions; and it cannot read its index from a folder.
"""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from py_mini_racer import MiniRacer

from book.html import search_sections
from book.publish.assemble import assemble

ROOT = Path(__file__).parent.parent
SITE = ROOT / "docs" / "_build" / "html"


def table(name):
    """What is asked, and what has to be found."""
    return tomllib.loads((ROOT / "tests" / f"{name}.toml").read_text("utf-8"))


FRAGMENTS = [
    (text, [page]) for page, all_ in table("fragments").items() for text in all_
]
QUESTIONS = list(table("questions").items())
QUERIES = list(table("queries").items())
CHINESE = table("questions_zh_CN")
FIRST = 3
# What the scripts of a search ask of a browser, apart from showing what was found.
BROWSER = """
var window = globalThis, _ready = () => {}, _ = (text) => text;
var document = { getElementById: () => null, querySelectorAll: () => [] };
const SPHINX_HIGHLIGHT_ENABLED = false;
var Documentation = { ngettext: () => "Search finished" };
"""
ASK = """
const ask = (query) => JSON.stringify(
  Search._performSearch(...Search._parseQuery(query)).reverse().map(
    ([page, title, anchor]) => [page, anchor || title]));
"""


class Site:
    """The search of a built site; a context manager, for an engine has to be ended."""

    def __init__(self, html, own=True):
        self.engine, self.known = MiniRacer(), {}
        self.engine.eval(BROWSER)
        scripts = ["_static/searchtools.js", "_static/language_data.js"]
        if own:
            scripts += ["_static/sections.js", "_static/search.js"]
        scripts.append("searchindex.js")
        for name in scripts:
            self.engine.eval((html / name).read_text(encoding="utf-8"))
        self.engine.eval(ASK)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.engine.close()

    def anchors(self):
        """Where results may lead: pages, and the anchors of their sections."""
        every = (
            "prepared().texts.map(({ file, id }) => [Search._index.docnames[file], id])"
        )
        return json.loads(self.engine.eval(f"JSON.stringify({every})"))

    def scored(self, query):
        """All that Sphinx is told of each result, its score too."""
        asked = f"Search._performSearch(...Search._parseQuery({json.dumps(query)}))"
        return json.loads(self.engine.eval(f"JSON.stringify({asked})"))

    def says(self):
        """What stands above the results of the last query."""
        return self.engine.eval('Documentation.ngettext("one", "several", 2)')

    def found(self, query):
        """Where what is pasted leads: pages, each once, the best first, and sections.

        A field for one line takes the ends of lines away, and puts nothing there.
        """
        if query in self.known:
            return self.known[query]
        found = self.known[query] = {}
        for page, section in json.loads(
            self.engine.call("ask", query.replace("\n", ""))
        ):
            found.setdefault(page, plain(section))
        return found


def plain(address):
    """An address or a heading, whoever made the one of the other."""
    return re.sub(r"[^a-z0-9]", "", address.lower())


@pytest.fixture(scope="module")
def site():
    """The site that the last build made."""
    if not (SITE / "searchindex.js").is_file():
        pytest.skip("there is no built site: nox -s docs")
    with Site(SITE) as opened:
        yield opened


def missed(site, asked, sections=False):
    """Which of the `asked` lead to none of their pages among the first three."""
    lost = []
    for query, wanted in asked:
        places = [place.partition("#") for place in wanted]
        pages = {page: plain(section) for page, _, section in places}
        found = list(site.found(query).items())[:FIRST]
        right = [section for page, section in found if page in pages]
        if sections:
            right = [s for page, s in found if pages.get(page, "-") in ("", s)]
        if not right:
            lost.append((query, wanted[0], [page for page, _ in found]))
    return lost


def told(lost):
    """What was lost, a line each."""
    return "\n".join(
        f"{query!r} wants {page}, found {got}" for query, page, got in lost
    )


def test_what_is_asked_leads_to_pages_that_exist():
    assert len(FRAGMENTS) >= 100 and len(QUESTIONS) >= 100 and len(QUERIES) >= 30
    pages = {p.partition("#")[0] for _, w in FRAGMENTS + QUESTIONS + QUERIES for p in w}
    assert [p for p in pages if not (ROOT / "docs" / f"{p}.md").is_file()] == []
    shelf = {f"errors/{path.stem}" for path in (ROOT / "docs/errors").glob("*.md")}
    pasted = {page for _, [page] in FRAGMENTS}
    told = "tests/fragments.toml lacks what readers would paste who need these pages"
    assert shelf - pasted == set(), told


def test_no_page_has_the_words_of_a_question():
    asked = {query.lower() for query, _ in QUESTIONS}
    for page in (ROOT / "docs").glob("*/*.md"):
        text = page.read_text(encoding="utf-8").partition("\n---\n")[0]
        declared = re.findall(r"question: (.*)", text)
        assert not asked & {one.strip("\"'").lower() for one in declared}, page


def test_a_pasted_message_finds_its_page(site):
    lost = missed(site, FRAGMENTS)
    assert len(lost) <= 0.05 * len(FRAGMENTS), told(lost)


def test_a_name_or_a_topic_finds_its_page(site):
    lost = missed(site, QUERIES)
    assert len(lost) <= 2, told(lost)


def test_a_question_in_other_words_finds_its_page(site):
    lost = missed(site, QUESTIONS)
    assert len(lost) <= 20, told(lost)


def test_a_question_in_other_words_finds_the_section(site):
    lost = missed(site, QUESTIONS, sections=True)
    assert len(lost) <= 42, told(lost)


@pytest.fixture(scope="module")
def chinese():
    """The pages in Chinese that the last build made."""
    if not (SITE / "zh_CN" / "searchindex.js").is_file():
        pytest.skip("there are no pages in Chinese: nox -s docs languages")
    with Site(SITE / "zh_CN") as opened:
        yield opened


def test_a_question_from_a_forum_is_answered_in_chinese(chinese):
    page, [pasted, title, *_] = next(iter(CHINESE.items()))
    for query in pasted, title:
        assert next(iter(chinese.found(query))) == page


def test_a_question_in_chinese_finds_its_page(chinese):
    asked = [(q, [page]) for page, all_ in CHINESE.items() for q in all_]
    assert len(asked) > 20
    lost = missed(chinese, asked)
    assert len(lost) <= 4, told(lost)


def test_where_no_page_fits_the_edition_in_chinese_has_ways_too(chinese):
    assert list(chinese.found("quux_17"))[:2] == ["index", "learn/index"]


def test_every_result_leads_to_a_section_that_is_there(site):
    ids, lost = {}, []
    for page, anchor in site.anchors():
        if page not in ids:
            text = (SITE / f"{page}.html").read_text(encoding="utf-8")
            ids[page] = set(re.findall(r' id="([^"]+)"', text))
        if anchor and anchor not in ids[page]:
            lost.append(f"{page}#{anchor}")
    assert len(ids) > 200 and lost == []


SHELF = {
    "sizes": '"inconsistent sizes for array axes to be mapped"',
    "name": '"unbound axis name"',
    "topic": "Choose the axes of vmap",
}
ASKED = """---
answers:
  - question: How do I hand over a heap of examples?
    at: a-batch
---

"""


@pytest.fixture(scope="module")
def small(shared):
    """A book of three pages; one has in its text what two have in their titles."""
    for name, title in SHELF.items():
        shared.write(f"docs/{name}.md", f"# {title}\n\nProse about {name}.\n")
    titles = " ".join(SHELF.values()).replace('"', "")
    text = f"# {SHELF['topic']}\n\n{titles}\n\n## A batch\n"
    shared.write("docs/topic.md", ASKED + text)
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
        assert next(iter(site.found(pasted))) == "sizes"
        assert next(iter(site.found(TRACEBACK))) == "name"
        assert next(iter(site.found("Choose axes"))) == "topic"


def test_where_no_page_fits_the_ways_into_the_book_are_shown(small):
    with Site(small) as site:
        assert list(site.found("quux_17")) == ["index"]
        assert site.says().startswith("No page has these words.")
        assert list(site.found("prose")) and site.says() == "Search finished"


SYNONYMS = """
[words]
"gadget" = "axes"
"gadget box" = "unbound name"
"装置" = "axes"

[first]
"axes" = "topic"
"""


@pytest.fixture(scope="module")
def other_words(small, tmp_path_factory):
    """The small book with synonyms."""
    html = tmp_path_factory.mktemp("other") / "html"
    shutil.copytree(small, html)
    (html.parent / "synonyms.toml").write_text(SYNONYMS, encoding="utf-8")
    file = html / "_static" / "sections.js"
    sections = file.read_text(encoding="utf-8").splitlines()[0]
    told = json.dumps(search_sections.synonyms(html.parent))
    file.write_text(f"{sections}\nvar synonyms = {told};\n", encoding="utf-8")
    return html


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("gadget", "topic"),
        ("Gadget", "topic"),
        ("gadgte", "topic"),  # two letters exchanged
        ("gadgets", "topic"),  # one more
        ("the gadget box", "name"),  # the longer one counts
        ("装置", "topic"),
    ],
)
def test_other_words_lead_where_those_of_the_book_do(other_words, query, page):
    with Site(other_words) as site:
        assert next(iter(site.found(query))) == page


def test_a_query_whose_page_is_known_leads_to_its_beginning(other_words):
    with Site(other_words) as site:
        assert site.found("axes")["topic"] == "choosetheaxesofvmap"
        assert site.found("Axes batch")["topic"] == "abatch"


def test_a_word_with_one_wrong_letter_is_found(small):
    with Site(small) as site:
        assert list(site.found("unbuond")) == list(site.found("unbound"))
        assert list(site.found("inconsistant")) == list(site.found("inconsistent"))


def test_the_search_of_sphinx_would_lose_them(small):
    with Site(small, own=False) as site:
        assert site.found(TRACEBACK) == {}


def test_a_published_book_finds_the_same(small, tmp_path):
    assemble(tmp_path / "site", [small])
    asked = [TRACEBACK, "Choose axes", "my batch", "heaps", "prose", "quux_17"]
    with Site(small) as built, Site(tmp_path / "site") as published:
        for query in asked:
            assert published.found(query) == built.found(query)


def test_a_word_that_was_on_a_page_once_is_as_one_that_never_was(small, tmp_path):
    html = tmp_path / "html"
    shutil.copytree(small, html)
    index = (html / "searchindex.js").read_text()
    index = index.replace('"terms":{', '"terms":{"quotidian":[],')
    (html / "searchindex.js").write_text(index)
    with Site(html) as site:
        assert '"quotidian":[]' in index
        found = site.scored("quotidian prose about axes mapped")
        assert found and found == site.scored("zzzzz prose about axes mapped")


@pytest.mark.parametrize("query", ["my batch", "heaps"])
def test_a_section_that_fits_is_where_the_result_leads(small, query):
    with Site(small) as site:
        assert site.found(query)["topic"] == "abatch"


def test_the_search_page_gets_the_index_last_and_waits_for_no_script(shared, small):
    scripts = re.findall(r"<script (.*?)src=\"([^\"?]+)", shared.text("search"))
    loaded = [name for options, name in scripts if "defer" in options]
    assert loaded[-5:] == [
        "_static/searchtools.js",
        "_static/language_data.js",
        "_static/sections.js",
        "_static/search.js",
        "searchindex.js",
    ]
