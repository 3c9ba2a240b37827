"""The download menu of a page offers what readers can take along, and Colab."""

from tests.conftest import Book


def test_the_menu_offers_the_files_and_colab(tmp_path):
    conf = 'html_theme_options |= {"repository_url": "https://github.com/a/b"}\n'
    book = Book(tmp_path, conf=conf)
    book.page("taken", "x = 1\nx")
    book.write("docs/words.md", "# Words\n\nOnly words.\n")
    book.index("taken", "words")
    built = book.build()
    assert built.code == 0, built.said
    page = book.text("taken")
    for name in ("taken.ipynb", "taken.py"):
        assert f'href="{name}"' in page
        assert (book.html / name).exists()
    assert "colab.research.google.com/github/a/b/blob/notebooks/taken.ipynb" in page
    assert "ipynb" not in book.text("words") and "colab" not in book.text("words")
