"""What is damaged of the last build is made again, and harms nothing."""

import pytest

from book.build.damaged_files import remove_damaged


def test_files_of_sphinx_that_are_damaged_are_made_again(book):
    """An empty and a cut file, each of which ended in a traceback."""
    book.page("plain", "assert True\nprint('it', 'ran')")
    assert book.build().code == 0
    for name in (".buildinfo", "searchindex.js"):
        path = book.html / name
        whole = path.read_bytes()
        for text in (b"", whole[: len(whole) // 2]):
            path.write_bytes(text)
            built = book.build()
            assert built.code == 0, built.said
            assert f"{name} was damaged; every page is written again" in built.said
            assert path.read_bytes() == whole
    assert "was damaged" not in book.build().said


@pytest.mark.parametrize("name", [".buildinfo", "searchindex.js"])
@pytest.mark.parametrize("text", [b"", b"\xff\x00", b"[]", b"Search.setIndex({})"])
def test_what_is_no_such_file_is_damaged(tmp_path, name, text):
    (tmp_path / name).write_bytes(text)
    assert remove_damaged(tmp_path)
    assert not remove_damaged(tmp_path)


def test_a_folder_in_the_place_of_such_a_file_is_removed(tmp_path):
    (tmp_path / ".buildinfo" / "inside").mkdir(parents=True)
    assert remove_damaged(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_another_file_is_named(book):
    book.page("plain", "assert True")
    (book.docs / "_build" / "lock").mkdir()
    built = book.build()
    assert built.code == 1
    assert "Traceback" not in built.said
    place = f"{book.docs}/_build/lock could not be written: Is a directory"
    assert f"{place}; remove the folder that stands there." in built.said
