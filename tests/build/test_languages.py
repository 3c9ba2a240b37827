"""A build in another language writes the pages that it has, and runs nothing again."""

import json
import re
import shutil

import pytest

FIGURE = '''
from IPython.display import HTML

svg = """<svg><title>Three rows &amp; a mean.</title><text>the sum of all</text>
<text>x.sum(axis=0)</text></svg>"""
HTML(svg)'''
PAGE = """# A map

It calls `f`. See [the other page](other.md), [itself](#a-heading) and this:

## A heading

This stays English.
"""
HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
WORDS = {
    "A map": "映射",
    "A heading": "标题",
    "It calls `f`. See [the other page](other.md), [itself](#a-heading) and this:": (
        "它调用 `f`。见[另一页](other.md)、[本页](#a-heading)和这个："
    ),
    "What is a map?": "什么是映射？",
    "Maps": "映射页",
    "Three rows & a mean.": "三行，一个均值。",
    "the sum of all": "全部之和",
    "Show it": "显示出来",
}
FRONT = """answers:
  - question: What is a map?
    at: a-heading
book:
  short: Maps
"""


def catalogue(words):
    """The text of a catalogue."""
    lines = (f'msgid "{one}"\nmsgstr "{other}"\n' for one, other in words.items())
    return "\n".join([HEADER, *lines])


@pytest.fixture(scope="module")
def english(shared):
    """A book in English, with catalogues for two of its four pages."""
    cell = ':tags: [hide-input]\n:mystnb: {code_prompt_show: "Show it"}' + FIGURE
    path = shared.page("map", "x = 3\nprint(x)", cell, prose="PROSE")
    text = path.read_text().replace("PROSE", PAGE.partition("\n\n")[2])
    text = text.replace("# Map\n", "# A map\n").replace("book:\n", FRONT, 1)
    path.write_text(text)
    shared.page("other", "print(4)")
    shared.page("gone", prose="Soon.\n\n```{record} summary\n```")
    for name, words in {"map": WORDS, "index": {"Index": "目录"}}.items():
        shared.write(f"docs/locale/zh_CN/LC_MESSAGES/{name}.po", catalogue(words))
    engine = catalogue({"{count} checks": "{count} 项检查", "1 check": "1 项检查"})
    shared.write("docs/locale/zh_CN/LC_MESSAGES/sphinx.po", engine)
    shared.write("docs/locale/zh_CN/LC_MESSAGES/sphinx.js", "// words\n")
    built = shared.build()
    assert built.code == 0, built.said
    return shared


@pytest.fixture(scope="module")
def chinese(english, tmp_path_factory):
    """The same book, with its pages in Chinese beside the English."""
    built = english.copied(tmp_path_factory.mktemp("chinese") / "book")
    html = built.html
    built.html = html / "zh_CN"
    made = built.build("-D", "language=zh_CN", "-d", str(built.docs / "_build/zh"))
    assert made.code == 0, made.said
    return built


def test_only_pages_with_a_catalogue_are_written(chinese):
    found = {
        path.relative_to(chinese.html).as_posix() for path in chinese.html.rglob("*")
    }
    assert {"index.html", "map.html", "map.md", "map.ipynb", "map.py"} <= found
    assert not [name for name in found if "other" in name or name == "404.html"]
    assert '"docnames":["index","map"]' in (chinese.html / "searchindex.js").read_text()


def test_nothing_runs_again(english, chinese):
    assert chinese.executed() == set()
    both = [book.record()["pages"]["map"]["ran"] for book in (english, chinese)]
    assert both[0] == both[1]


def test_what_is_not_translated_is_english(chinese):
    text = chinese.text("map")
    assert '<html lang="zh-CN"' in text
    assert "它调用" in text and "This stays English." in text
    assert "1 项检查" in text and "显示出来" in text
    assert (chinese.html / "_static/translations.js").read_text() == "// words\n"


def test_links_lead_to_english_where_there_is_no_translation(chinese):
    text = chinese.text("map")
    assert re.search(r'<a class="english[^>]* href="\.\./other\.html">.*另一页', text)
    assert re.search(r'<a class="[^"]*" href="#a-heading">.*本页', text)
    assert "](../other.md)" in (chinese.html / "map.md").read_text()
    assert 'href="map.html"' in chinese.text("index")


def test_sentences_in_figures_are_translated_and_code_is_not(chinese):
    text = chinese.text("map")
    assert "<title>三行，一个均值。</title><text>全部之和</text>" in text
    assert "<text>x.sum(axis=0)</text>" in text
    assert "[Figure: 三行，一个均值。]" in (chinese.html / "map.md").read_text()


def test_the_search_knows_the_questions_in_chinese(chinese):
    line = (chinese.html / "_static" / "sections.js").read_text().splitlines()[0]
    known = json.loads(line.removeprefix("var sections = ").rstrip(";"))["map"]
    assert known[0] == ["", "映射", "映射页"]
    assert known[1] == ["a-heading", "标题", "什么是映射"]


def test_programs_are_those_of_the_english_page(english, chinese):
    name = "_static/programs/map.js"
    assert (chinese.html / name).read_bytes() == (english.html / name).read_bytes()


def test_a_later_build_in_english_leaves_the_other_language_alone(chinese, tmp_path):
    again = chinese.copied(tmp_path / "book")
    before = {path: path.read_bytes() for path in (again.html / "zh_CN").rglob("*.*")}
    (again.docs / "gone.md").unlink()
    again.index("map", "other")
    built = again.build()
    assert built.code == 0, built.said
    assert not (again.html / "gone.html").exists()
    assert {p: p.read_bytes() for p in (again.html / "zh_CN").rglob("*.*")} == before


def test_a_catalogue_that_is_gone_takes_its_page_along(chinese, tmp_path):
    again = chinese.copied(tmp_path / "book")
    again.html = again.html / "zh_CN"
    (again.docs / "locale/zh_CN/LC_MESSAGES/map.po").unlink()
    (again.docs / "locale/zh_CN/LC_MESSAGES/map.mo").unlink(missing_ok=True)
    built = again.build("-D", "language=zh_CN", "-d", str(again.docs / "_build/zh"))
    assert built.code == 0, built.said
    assert not list(again.html.glob("map.*"))
    assert 'href="../map.html"' in again.text("index")


def test_the_catalogues_are_asked_for_what_stands_beside_the_prose(english, tmp_path):
    book = english.copied(tmp_path / "book")
    shutil.rmtree(book.docs / "locale")
    book.html = book.docs / "_build" / "gettext"
    built = book.build("-b", "gettext")
    assert built.code == 0, built.said
    text = (book.html / "map.pot").read_text()
    assert [one for one in WORDS if f'msgid "{one}"' not in text] == []
    assert 'msgid "This stays English."' in text and "x.sum" not in text
    text = (book.html / "gone.pot").read_text()
    assert 'msgid "Soon."' in text and "Verified" not in text  # each build says it anew
