"""What the book lists on its site stands in the twin of the page, too."""

import re

import pytest

from book.exports.directives import linked
from book.source.parser import read

PAGE = """---
file_format: mystnb
kernelspec: {{name: mesh-of-eight, display_name: eight}}
book: {{kind: concept, budget: 60, short: {0}s}}
answers:
  - {{question: "How do I map [one] axis in {0}?", at: {0}}}
  - {{question: "What is {0}?", at: {0}}}
---

# {0}

Text.

```{{code-cell}}
:check:
assert 1
```
"""
LISTS = """# Lists

```{record} summary
```

```{chapter}
maps/two
maps/one
```

```{questions} maps
```

<form action="search.html"><input name="q"></form>

```{record}
```
"""
WORDS = """# Words

```{glossary}
mesh
  Devices with named axes. See [one](maps/one.md).

shard
replica
  What a device holds of an array, on a {term}`mesh`:

  - a part.
```
"""


@pytest.fixture(scope="module")
def built(shared):
    """A book with lists of each kind."""
    for name in "one", "two":
        shared.write(f"docs/maps/{name}.md", PAGE.format(name))
    shared.write("docs/words.md", WORDS)
    shared.write("docs/lists.md", LISTS)
    shared.index("lists", "words", "maps/two", "maps/one")
    result = shared.build()
    assert result.code == 0, result.said
    return shared


def twin(book, name):
    """The text of a twin."""
    return (book.html / f"{name}.md").read_text()


def test_lists_stand_in_the_twin_with_links_to_other_twins(built):
    text = twin(built, "lists")
    assert "2 pages, 2 cells, 2 assertions" in text
    assert text.index("1. [two](maps/two.md)") < text.index("1. [one](maps/one.md)")
    assert r"- [How do I map \[one\] axis in one?](maps/one.md#one)" in text
    assert "| [ones](maps/one.md) | 1 |" in text
    assert "on the site" not in text and "<form" not in text
    assert "](/" not in text and "[](" not in text
    for name in re.findall(r"\]\(([\w/]+\.md)", text):
        assert (built.html / name).is_file()


def test_links_begin_where_the_page_is(built):
    page = read(built.docs / "maps" / "one.md", "maps/one")
    known = {"maps/two": read(built.docs / "maps" / "two.md", "maps/two")}
    assert linked("[](/maps/two.md) [w](/words.md#a)", page, known) == (
        "[two](two.md) [w](../words.md#a)"
    )


def test_terms_and_their_meanings_stand_in_the_twin(built):
    assert twin(built, "words").splitlines() == [
        *("# Words", "", "**mesh**", ""),
        *("Devices with named axes. See [one](maps/one.md).", ""),
        *("**shard**", "", "**replica**", ""),
        *("What a device holds of an array, on a mesh:", "", "- a part."),
    ]


def test_a_list_that_fails_on_its_page_leaves_the_other_twins(built, tmp_path):
    book = built.copied(tmp_path)
    path = book.docs / "maps/two.md"
    path.write_text(path.read_text().partition("# two")[0])
    result = book.build()
    assert result.code == 1 and "maps/two: is empty" in result.said
    assert twin(book, "words") == twin(built, "words")
    assert "*A list on the site.*" in twin(book, "lists")
