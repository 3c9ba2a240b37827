"""A page shows what this build verified, and what was verified on other machines."""

import json
import re

import pytest


@pytest.fixture(scope="module")
def original(shared):
    """A book of two pages with cells, not in the order of their names, and a record."""
    for name in "before", "after":
        path = shared.page(name, "assert 1", kernel="mesh-of-eight")
        path.write_text(
            path.read_text().replace("book:\n", f"book:\n  short: {name}s\n")
        )
    shared.write("docs/verified.md", "# Verified\n\n```{record}\n```\n")
    summary = "```{record} summary\n```"
    toctree = "```{toctree}\nbefore\nafter\nverified\n```"
    shared.write("docs/index.md", f"# Index\n\n{summary}\n\n{toctree}\n")
    result = shared.build()
    assert result.code == 0, result.said
    return shared


@pytest.fixture
def built(original, tmp_path):
    """A copy of that book, built."""
    return original.copied(tmp_path)


def tables(book):
    """The text of the page that shows the record, without marks."""
    article = book.text("verified").partition('role="main"')[2]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", article))


def test_pages_stand_in_the_order_of_the_contents_by_their_short_titles(built):
    page = built.text("verified")
    assert re.findall('<tr[^>]* id="(.*?)"', page) == ["record-before", "record-after"]
    rows = page.partition('id="record-before"')[2].split('id="record-after"')
    for row, name in zip(rows, ("before", "after"), strict=True):
        first = row.partition("</td>")[0]
        assert f'href="{name}.html"' in first and f">{name}s<" in first


def test_what_all_pages_have_in_common_is_said_once(built):
    day = built.record()["pages"]["after"]["ran"][:10]
    said = f"Each ran on {day}, in this build, on simulated devices."
    assert tables(built).count(said) == 1
    assert tables(built).count("simulated") == 1
    built.build()
    assert f"Each ran on {day}, in an earlier build, on" in tables(built)


def test_a_page_that_ran_and_one_from_the_cache_say_so_in_their_rows(built):
    path = built.docs / "after.md"
    path.write_text(path.read_text().replace("assert 1", "assert 2"))
    assert built.build().code == 0
    text = tables(built)
    assert "Each ran on simulated devices." in text
    before, after = text.partition("befores")[2].split("afters", 1)
    assert "in an earlier build" in before and "in this build" in after


def test_where_nothing_has_changed_nothing_is_read(built):
    built.build()
    assert "0 added, 0 changed, 0 removed" in built.build().said


def test_other_machines_are_told_in_a_line(built):
    other = built.record() | {"device_kind": "Abacus 3000", "target": "gpu"}
    gone = other["pages"]["after"] | {"devices": "real", "ran": "2020-01-01"}
    other["pages"] = {"since-removed": gone, "after": other["pages"]["after"]}
    place = built.write("docs/evidence/records/abacus.json", json.dumps(other))
    assert built.build().code == 0
    line = tables(built).partition("abacus")[2]
    assert "devices of kind Abacus 3000. 2 pages," in line
    assert "from 2020-01-01 to" in line
    assert "1 on real devices, 1 on simulated devices" in line
    assert "Not in it, because they failed there or are newer: before" in line
    place.write_text("{}")
    failed = built.build()
    place.unlink()
    assert failed.code == 1 and "records/abacus.json is no record" in failed.said


def last_line(book, page):
    """The text of a page's last line, and where its link leads."""
    found = re.search(
        r'<p class="provenance">([^<]*)(?:<a href="(.*?)")?', book.text(page)
    )
    return found[1].strip(), found[2]


def test_the_last_line_of_a_page_says_where_and_when_it_ran(built):
    record = built.record()
    day = record["pages"]["after"]["ran"][:10]
    line = f"Run on {day}, JAX {record['jax']}, 8 simulated CPU devices."
    assert last_line(built, "after") == (line, "verified.html#record-after")


def test_a_page_without_cells_has_no_last_line(built):
    assert "provenance" not in built.text("verified")


def test_a_last_line_is_written_again_where_the_page_is_not_read_again(built):
    assert built.build().code == 0  # where it is a copy, all is written
    page = built.html / "after.html"
    before = page.stat().st_mtime_ns
    assert built.build().code == 0
    assert page.stat().st_mtime_ns == before
    summary = "# Verified\n\n```{record} summary\n```\n"
    built.write("docs/verified.md", summary)
    again = built.build("-v")
    assert again.code == 0, again.said
    assert last_line(built, "after")[1] is None
    assert "reading sources... [100%] verified" in again.said
    assert not re.search(r"reading sources\.\.\. .*after", again.said)
