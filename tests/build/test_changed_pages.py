"""Sphinx reads again what has changed, whatever the times of files say."""

import os


def test_prose_is_published_whatever_its_time_says(book):
    path = book.page("timed", "assert True", prose="The first version.")
    words = book.write("docs/words.md", "# Words\n\nThe first words.\n")
    book.index("timed", "words")
    assert book.build().code == 0
    for file in (path, words):
        time = file.stat()
        file.write_text(file.read_text().replace("first", "second"))
        os.utime(file, ns=(time.st_atime_ns, time.st_mtime_ns - 10**10))
    assert book.build().code == 0
    assert "The second version." in book.text("timed")
    assert "The second words." in book.text("words")
    assert book.executed() == set()
