"""Every page with outputs says in its last line where they are from."""

import re

import pytest


@pytest.fixture(scope="module")
def built(shared):
    """A book of one page with a cell, and one without."""
    shared.page("counted", "x = [1, 2]\nassert x", kernel="mesh-of-eight")
    shared.write("docs/words.md", "# Words\n\nOnly words.\n")
    shared.index("counted", "words")
    result = shared.build()
    assert result.code == 0, result.said
    return shared


def last_line(book, page):
    """The text of a page's last line."""
    return re.search(r'<p class="provenance">(.*?)<', book.text(page))[1].strip()


def test_the_last_line_of_a_page_says_where_and_when_it_ran(built):
    record = built.record()
    day = record["pages"]["counted"]["ran"][:10]
    line = f"Run on {day}, JAX {record['jax']}, 8 simulated CPU devices."
    assert last_line(built, "counted") == line


def test_a_page_without_cells_has_no_such_line(built):
    assert "provenance" not in built.text("words")


def test_a_last_line_is_written_again_where_the_page_is_not_read_again(built):
    page = built.html / "counted.html"
    before = page.stat().st_mtime_ns
    assert built.build().code == 0
    assert built.record()["pages"]["counted"]["executed"] is False
    assert page.stat().st_mtime_ns == before
    other = "import book.html.last_line as p\np.line = lambda *page: 'Elsewhere.'\n"
    conf = built.docs / "conf.py"
    plain = conf.read_text()
    conf.write_text(plain + other)
    again = built.build()
    conf.write_text(plain)
    assert again.code == 0, again.said
    assert last_line(built, "counted") == "Elsewhere."
    assert "updating environment: 0 added, 0 changed" in again.said
    assert built.build().code == 0
    assert last_line(built, "counted").startswith("Run on ")
