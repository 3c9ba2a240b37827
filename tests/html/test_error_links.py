"""Below an error that a page raises stands the way to the page about it."""

from types import SimpleNamespace

import pytest

from book.html.error_links import page_about

SHELF = """---
error: {{called: [jax.vmap], raised: "{words}"}}
---

# "{title}"

Prose.
"""


def about(**words):
    return [
        SimpleNamespace(name=n, error=SimpleNamespace(words=w))
        for n, w in words.items()
    ]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("ValueError: got inconsistent sizes for 3 axes", "sizes"),
        ("ValueError: vmap got inconsistent sizes\n  for all axes", "vmap_sizes"),
        ("TypeError: vmap got inconsistent sizes for axes", None),
        ("ValueError: sizes inconsistent got for axes", None),
        ("KeyError: no such key there", "keys"),
        ("ValueError: of two words", None),
        ("KeyError: 'rows'", "axis"),
        ("KeyError: 'rows' of", None),
        ("AssertionError", "empty"),
        ("AssertionError: it is said what", None),
    ],
)
def test_the_page_that_names_most_words_is_found(said, found):
    pages = about(
        sizes="ValueError: got inconsistent sizes",
        vmap_sizes="ValueError: vmap got inconsistent sizes for axes",
        keys="TypeError: not this one; KeyError: no such key",
        short="ValueError: of two",
        axis="KeyError: 'rows'",
        empty="AssertionError",
    )
    page = page_about(said, pages)
    assert (page and page.name) == found


def test_a_page_leads_to_the_shelf_and_follows_it(book):
    book.page(
        "raises",
        ':raises: "ValueError: a colour is"\nraise ValueError("a colour is odd")',
    )
    book.page("fine", "x = 1\nassert x")
    words = SHELF.format(words="ValueError: a colour is odd", title="a colour is odd")
    book.write("docs/errors/odd.md", words)
    book.index("raises", "fine", "errors/odd")
    built = book.build()
    assert built.code == 0, built.said
    assert 'href="errors/odd.html"' in book.text("raises").split("causes")[1]
    assert "causes" not in book.text("fine")

    book.write("docs/errors/odd.md", words.replace("is odd", "is even"))
    assert book.build().code == 0
    assert "causes" not in book.text("raises")
