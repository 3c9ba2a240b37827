"""A file of the site that was changed or removed after a build is written again."""

import os
import re
import shutil

import pytest

# Of each page, the file that is damaged; none of the last.
FILES = {
    "shown": "shown.html",
    "twin": "twin.md",
    "script": "script.py",
    "notebook": "notebook.ipynb",
    "source": "_sources/source.md.txt",
    "picture": "_images/picture.svg",
    "fine": "",
}
# Files that each build writes.
OTHERS = ("_static/basic.css", "_static/programs/script.js", "search.html")
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"><title>A picture</title></svg>\n'


def emptied(path):
    path.write_bytes(b"")


def changed(path):
    """As many letters as before, and one of them another."""
    text = path.read_bytes()
    path.write_bytes(text[:9] + bytes([text[9] ^ 1]) + text[10:])


def removed(path):
    path.unlink()


def a_folder(path):
    path.unlink()
    (path / "inside").mkdir(parents=True)


def site(book):
    """What is in each file of the site, but for the record of the build."""
    files = [path for path in book.html.rglob("*") if path.is_file()]
    return {
        path.relative_to(book.html).as_posix(): path.read_bytes()
        for path in files
        if path.name != "record.json" and ".doctrees" not in path.parts
    }


def written(said):
    """The pages that a build wrote."""
    return set(re.findall(r"writing output\.\.\. \[ *\d+%\] (\S+)", said))


@pytest.fixture(scope="module")
def original(shared):
    """A book that is built."""
    book = shared
    book.write("docs/picture.svg", PICTURE)
    book.write("docs/data.csv", "1,2,3,4,5\n")
    for name in FILES:
        book.page(name, f"x = {name!r}\nx")
    download = "![A picture](picture.svg)\n\n{download}`data.csv`"
    book.page("picture", "x = 1\nx", prose=download)
    book.index(*FILES)
    built = book.build()
    assert built.code == 0, built.said
    return book


@pytest.mark.parametrize("damage", [changed, removed, a_folder])
def test_what_was_damaged_is_written_again_and_nothing_else(original, damage):
    before = site(original)
    [download] = [name for name in before if name.endswith("data.csv")]
    named = [name for name in FILES.values() if name]
    for name in (*named, *OTHERS[:2], download):
        damage(original.html / name)
    built = original.build()
    assert built.code == 0, built.said
    assert "are not as the last build left them are written again: 9, " in built.said
    assert site(original) == before
    # And the list of pages, as whenever one of them is written.
    assert written(built.said) == {"index", *FILES} - {"fine"}


def test_the_search_and_what_each_build_writes_is_repaired(original):
    before = site(original)
    index = original.html / "searchindex.js"
    index.write_text(index.read_text().replace("picture", "pictore"))
    for name in OTHERS:
        emptied(original.html / name)
    built = original.build()
    assert built.code == 0, built.said
    assert site(original) == before


def test_another_time_alone_is_no_damage_and_a_file_of_somebody_stays(original):
    own = original.html / "CNAME"
    for text in ("one", "two"):
        own.write_text(text)
        for path in original.html.rglob("*.html"):
            time = path.stat().st_mtime_ns + 10**10
            os.utime(path, ns=(time, time))
        built = original.build()
        assert (built.code, written(built.said)) == (0, set())
        assert "written again" not in built.said
        assert own.read_text() == text
    own.unlink()


def test_where_it_is_not_known_how_the_site_was_left_every_page_is_written(original):
    before = site(original)
    emptied(original.html / "shown.html")
    [kept] = (original.html / ".doctrees").glob("site-*.json")
    kept.write_text("{")
    built = original.build()
    assert built.code == 0, built.said
    assert site(original) == before


def test_what_the_first_build_finds_is_replaced_or_named(original, tmp_path):
    """As after a build that was killed: nobody knows how it left the site."""
    book = original.copied(tmp_path)
    shutil.rmtree(book.html / ".doctrees")
    [css] = (book.html / "_static").glob("mystnb.*.css")
    whole = css.read_bytes()
    emptied(css)
    a_folder(book.html / "_static" / "basic.css")
    built = book.build()
    assert built.code == 1
    place = f"{book.html}/_static/basic.css could not be written: Is a directory"
    assert f"{place}; remove the folder that stands there." in built.said
    assert "Traceback" not in built.said
    shutil.rmtree(book.html / "_static" / "basic.css")
    built = book.build()
    assert built.code == 0, built.said
    assert css.read_bytes() == whole
