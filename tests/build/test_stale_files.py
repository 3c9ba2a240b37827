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


SVG = """
from IPython.display import SVG
assert True
SVG('<svg xmlns="http://www.w3.org/2000/svg"><desc>unforgettable {}</desc></svg>')
"""


def beside(book):
    """The pictures, downloads and sources of the site, and those drawn for it."""
    folders = ("html/_images", "html/_downloads", "html/_sources", "jupyter_execute")
    return {
        path.name
        for folder in folders
        for path in (book.docs / "_build" / folder).rglob("*.*")
        if path.is_file()
    }


def test_pictures_and_downloads_that_no_page_has_go(book):
    for name in ("stays", "leaving"):
        book.write(f"docs/{name}.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
        book.write(f"docs/{name}.csv", f"1,{name}\n")
        shown = f"![picture]({name}.svg)\n\n{{download}}`{name}.csv`"
        book.page(name, SVG.format(name), prose=shown)
    assert book.build().code == 0
    both = beside(book)
    assert {"leaving.svg", "leaving.csv", "stays.svg", "stays.csv"} <= both
    assert len([name for name in both if len(name) > 60]) == 2  # hashes of outputs
    book.page("stays", SVG.format("other"), prose="![picture](stays.svg)")
    (book.docs / "leaving.md").unlink()
    book.index("stays")
    (book.html / "_sources" / "old.rst.txt").write_text("Of a page in another format.")
    built = book.build()
    assert built.code == 0, built.said
    left = beside(book)
    assert "stays.svg" in left
    assert not {"leaving.svg", "leaving.csv", "stays.csv", "old.rst.txt"} & left
    hashes = {name for name in left if len(name) > 60}
    assert len(hashes) == 1
    assert not hashes & both
    # Nothing more is needed by a build in which nothing changes, nor from cold.
    assert book.build().code == 0
    assert beside(book) == left
    assert book.build("-E", "-a").code == 0
    assert beside(book) == left
