"""What a page or a script can use stays in a site, and all else goes."""

import json

import pytest

from book.publish import prune_assets

KNOWN = {"used", "open"}


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        (".used{a:b}.unused{c:d}", ".used{a:b}"),
        ("p,.unused,.used p{a:b}", "p,.used p{a:b}"),
        (".used.unused{a:b}", ""),
        ("p:not(.unused){a:b}", "p:not(.unused){a:b}"),
        (
            ":is(.unused,p:not(.x,.y)) a,.unused{a:b}",
            ":is(.unused,p:not(.x,.y)) a{a:b}",
        ),
        ('[class*="fa-"],.unused{a:b}', '[class*="fa-"]{a:b}'),
        ("@media print{.unused{a:b}}", ""),
        ("@media print{.used{a:b}.unused{c:d}}", "@media print{.used{a:b}}"),
        ("@keyframes k{from{a:b}to{c:d}}", "@keyframes k{from{a:b}to{c:d}}"),
        ("@import 'x.css';.used{a:b}", "@import 'x.css';.used{a:b}"),
        ('.used{a:"}"}p{c:url("{;}")}', '.used{a:"}"}p{c:url("{;}")}'),
        ("/* .used{ */p{a:b}", "p{a:b}"),
        (r".sd-py-1\.5{a:b}", r".sd-py-1\.5{a:b}"),
        (".used{}p{a:b}", "p{a:b}"),
        ("@font-face{src:url(x.woff2)}p{a:b}", "p{a:b}"),
    ],
)
def test_rules_are_kept_by_what_they_ask_for(css, kept):
    assert prune_assets.purge(css, KNOWN) == kept


def test_a_class_is_used_on_a_page_or_named_in_a_script():
    page = '<p class="one two"><i id="three"><b class=\'six\'>'
    assert prune_assets.classes(page) == {"one", "two", "six"}
    assert "four-five" in prune_assets.words('e.classList.add("four-five")')


def test_the_index_keeps_the_words_of_pages_and_loses_their_titles():
    index = {"terms": {"map": [0, 1], "naïve": 1}, "docnames": ["a", "b"]}
    titles = {"titleterms": {"map": 0}, "alltitles": {"A map": [[0, None]]}}
    made = prune_assets.without_titles(f"Search.setIndex({json.dumps(index | titles)})")
    left = json.loads(made.removeprefix("Search.setIndex(").removesuffix(")"))
    assert left == index | {"titleterms": {}, "alltitles": {}}


def test_an_index_of_another_form_is_not_taken_for_sphinxs():
    with pytest.raises(ValueError, match="not as Sphinx writes it"):
        prune_assets.without_titles("var index = {};")


def test_only_files_that_nothing_uses_go(tmp_path):
    texts = {
        "_static/vendor/font.woff2": "font",
        "_static/scripts/bootstrap.js": "menus",
        "_static/scripts/theme.js": "go()\n//# sourceMappingURL=theme.js.map\n",
        "_static/scripts/theme.js.map": "{}",
        "_static/styles/theme.css": '@import "../basic.css";',
        "_static/basic.css": ".used{a:b}.unused{c:d}",
        "page.html": '<p class="used">',
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    prune_assets.prune(tmp_path)
    left = {
        path.relative_to(tmp_path).as_posix(): path.read_text()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert left == {
        "_static/scripts/theme.js": "go()\n",
        "_static/styles/theme.css": ".used{a:b}",
        "page.html": '<p class="used">',
    }
