"""Of a page that is gone nothing stays."""


def files(book, name):
    """What there is of a page in the folder of builds, but for lists of pages."""
    found = [p for p in (book.docs / "_build").rglob("*") if name in p.as_posix()]
    return sorted(p.relative_to(book.docs / "_build").as_posix() for p in found)


def test_of_a_page_that_is_gone_nothing_stays(book):
    book.page("stays", "1\nassert True")
    book.page("leaving", "x = 'unforgettable'\nx\nassert x")
    book.write("docs/deep/leaving.md", "# Deep\n\nProse, unforgettable.\n")
    book.index("stays", "leaving", "deep/leaving")
    assert book.build().code == 0
    before = files(book, "leaving")
    for one in ("html/leaving.html", "html/deep/leaving.html", "snippets/leaving"):
        assert one in before
    assert any(one.startswith("cache/") for one in before)
    assert "unforgett" in (book.html / "searchindex.js").read_text()
    (book.docs / "leaving.md").rename(book.docs / "arrived.md")
    (book.docs / "deep" / "leaving.md").unlink()
    book.index("stays", "arrived")
    built = book.build()
    assert built.code == 0, built.said
    assert files(book, "leaving") == []
    assert not (book.html / "deep").exists()
    index = (book.html / "searchindex.js").read_text()
    assert "arrived" in index and '"leaving"' not in index
    assert set(book.record()["pages"]) == {"stays", "arrived"}
    assert (book.html / "search.html").exists() and (book.html / "index.html").exists()
    # The page alone is gone: nothing else has changed.
    (book.docs / "arrived.md").unlink()
    book.build()
    assert files(book, "arrived") == []
