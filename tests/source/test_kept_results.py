"""What was found out about a text is known to the next build, and never wrong."""

import pytest

from book.source import kept_results
from book.source.kept_results import kept

asked = []


@kept
def length(text):
    """The length of a text, and a list of those that were looked at."""
    asked.append(text)
    if not text:
        raise ValueError("empty")
    return len(text)


@pytest.fixture
def folder(tmp_path):
    """Where a build has looked at "one" and "three"."""
    asked.clear()
    kept_results.load(tmp_path)
    assert (length("one"), length("three")) == (3, 5)
    kept_results.save(tmp_path)
    asked.clear()
    return tmp_path


def test_the_next_build_asks_for_what_is_new_only(folder):
    kept_results.load(folder)
    assert (length("one"), length("seven!")) == (3, 6)
    assert asked == ["seven!"]


def test_what_a_build_has_not_asked_for_is_forgotten(folder):
    kept_results.load(folder)
    length("one")
    kept_results.save(folder)
    kept_results.load(folder)
    length("one")
    length("three")
    assert asked == ["three"]


@pytest.mark.parametrize("damage", [b"", b"no pickle", b"\x80\x05N."])
def test_damaged_results_are_found_anew(folder, damage):
    for path in folder.iterdir():
        path.write_bytes(damage)
    kept_results.load(folder)
    assert length("one") == 3
    assert asked == ["one"]


def test_what_raises_is_asked_again(folder):
    for _ in range(2):
        with pytest.raises(ValueError, match="empty"):
            length("")
    assert asked == ["", ""]


def test_nothing_is_written_where_nothing_is_new(folder):
    before = [path.stat().st_mtime_ns for path in folder.iterdir()]
    kept_results.load(folder)
    length("one")
    length("three")
    kept_results.save(folder)
    assert [path.stat().st_mtime_ns for path in folder.iterdir()] == before
