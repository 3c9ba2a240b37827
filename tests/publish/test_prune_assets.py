"""A rule stays where a page or a script can use it, and goes where none can."""

import pytest

from book.publish import prune_css

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
    ],
)
def test_rules_are_kept_by_what_they_ask_for(css, kept):
    assert prune_css.purge(css, KNOWN) == kept


def test_a_class_is_used_on_a_page_or_named_in_a_script():
    page = '<p class="one two"><i id="three"><b class=\'six\'>'
    assert prune_css.classes(page) == {"one", "two", "six"}
    assert "four-five" in prune_css.words('e.classList.add("four-five")')
