"""A page that has not changed is not read again, and one that has changed is."""

import pickle

from book import memory
from book.memory import Memory


def test_a_page_is_read_once(book, monkeypatch):
    path = book.page("once", "assert 1 < 2")
    file = book.root / "read.pickle"
    first = Memory(file)
    page = first.page(path, "once")
    first.keep({"once"})

    second = Memory(file)
    monkeypatch.setattr(memory, "read", None)
    assert second.page(path, "once") == page
    assert second.page(path, "once").cells[0].assertions == 1


def test_a_page_that_has_changed_is_read_again(book):
    file = book.root / "read.pickle"
    for text in ("one", "two"):
        path = book.page("changed", "assert True", prose=text)
        remembered = Memory(file)
        assert text in remembered.page(path, "changed").text
        remembered.keep({"changed"})


def test_a_page_that_includes_another_file_is_read_again(book):
    path = book.page("page", "assert True", prose="```{include} more.md\n```")
    book.write("docs/more.md", "More.")
    remembered = Memory(book.root / "read.pickle")
    assert remembered.page(path, "page") is not remembered.page(path, "page")


def test_what_is_damaged_or_of_another_engine_is_forgotten(book, monkeypatch):
    path = book.page("once", "assert True")
    file = book.root / "read.pickle"
    Memory(file).keep(set())
    for spoil in (b"", b"no pickle", pickle.dumps(3)):
        file.write_bytes(spoil)
        remembered = Memory(file)
        assert remembered.page(path, "once").cells
    remembered.keep({"once"})
    monkeypatch.setattr(memory, "_stamp", lambda: "another")
    assert not Memory(file)._pages


def test_a_file_is_looked_through_again_when_it_was_written(tmp_path):
    one, other, kept = (tmp_path / name for name in ("one", "other", "kept"))
    one.write_text("a")
    other.write_text("b")
    looked = []

    def look(text):
        looked.append(text)
        return text.upper()

    def found(*given):
        looked.clear()
        return list(memory.found_in([one, other], look, kept, *given).values())

    assert found() == ["A", "B"] and looked == ["a", "b"]
    assert found() == ["A", "B"] and looked == []
    one.write_text("two")  # of another size: clocks of file systems are coarse
    assert found() == ["TWO", "B"] and looked == ["two"]
    assert found("more") == ["TWO", "B"] and looked == ["two", "b"]
    kept.write_bytes(b"no pickle")
    assert found("more") == ["TWO", "B"] and looked == ["two", "b"]
