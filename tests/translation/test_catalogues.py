"""The catalogues in docs/locale are complete, and agree with their English.

Whether they have the messages of the pages as they are now is asked by
`nox -s translations -- --check`, which reads the pages.
"""

import re
from pathlib import Path

import pytest

from book.translation import command
from book.translation.edition import CATALOGUES, ENGINE, LOCALE, translated_pages

DOCS = Path(__file__).parents[2] / "docs"
LANGUAGES = sorted(path.name for path in (DOCS / LOCALE).glob("*/"))
PAGES = [
    (language, page)
    for language in LANGUAGES
    for page in sorted(translated_pages(DOCS, language))
]


def catalogue(language: str, name: str) -> command.Catalog:
    """The catalogue of a page."""
    return command.read(DOCS / LOCALE / language / CATALOGUES / f"{name}.po", language)


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_a_page_is_translated(language, page):
    assert (DOCS / f"{page}.md").is_file(), "a catalogue of a page that is gone"
    found = catalogue(language, page)
    lines = list(command.left_to_do(found, found))
    assert not command.fails(found, lines), command.MEND.format(pages=page)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_the_engine_are_translated(language):
    lines = command.left_to_do(command.engine_template(), catalogue(language, ENGINE))
    assert list(lines) == [], command.MEND.format(pages=ENGINE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_the_scripts_are_translated(language):
    text = (DOCS / LOCALE / language / CATALOGUES / "sphinx.js").read_text("utf-8")
    said = [
        word
        for script in (DOCS / "_static").glob("*.js")
        for word in re.findall(r'\b_\(\s*"([^"]+)"', script.read_text("utf-8"))
    ]
    assert len(said) > 10
    assert [word for word in said if f'"{word}":' not in text] == []


OLD = """msgid ""
msgstr ""
"Language: zh_CN\\n"

msgid "A loop over three arrays."
msgstr "对三个数组循环。"

# differs: the page says so
msgid "Gone in `one`."
msgstr "没有了。"

msgid "It stays, with `code`."
msgstr "它留下，有 `code`。"
"""
NEW = """msgid ""
msgstr ""

msgid "A loop over four arrays."
msgstr ""

msgid "It stays, with `code`."
msgstr ""

msgid "Something quite different."
msgstr ""
"""


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book with a catalogue that is behind its page."""
    monkeypatch.setattr(command, "DOCS", tmp_path)
    monkeypatch.setattr(command, "engine_template", command.Catalog)
    for name, text in (
        ("made/page.pot", NEW),
        ("made/other.pot", NEW),
        ("locale/zh_CN/LC_MESSAGES/page.po", OLD),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_an_update_keeps_what_holds_and_names_what_is_left(book, capsys):
    command.main([str(book / "made"), "other"])
    text = (book / "locale/zh_CN/LC_MESSAGES/page.po").read_text("utf-8")
    assert "它留下，有 `code`。" in text and "没有了。" not in text
    assert text.count("#, fuzzy") == 1
    said = capsys.readouterr().out
    assert "zh_CN page: 2 to do" in said
    assert "fuzzy: A loop over four arrays." in said
    assert "missing: Something quite different." in said
    assert "zh_CN other: 3 to do" in said  # a page that was named has a catalogue now
    again = (book / "locale/zh_CN/LC_MESSAGES/page.po").read_bytes()
    command.main([str(book / "made")])
    assert (book / "locale/zh_CN/LC_MESSAGES/page.po").read_bytes() == again


def test_a_check_writes_nothing_and_says_how_to_mend_it(book, capsys):
    with pytest.raises(SystemExit, match=r"behind their pages: page\.(.|\n)*fuzzy"):
        command.main(["--check", str(book / "made")])
    assert (book / "locale/zh_CN/LC_MESSAGES/page.po").read_text("utf-8") == OLD
    assert "outdated: A loop over three arrays." in capsys.readouterr().out


def test_what_differs_on_purpose_says_why():
    message = {"A `b`.": "一个。"}
    for comment, count in ("", 1), ("differs: it is named above", 0):
        found = command.Catalog()
        for english, chinese in message.items():
            found.add(english, chinese, user_comments=[comment])
        assert len(list(command.left_to_do(found, found))) == count
