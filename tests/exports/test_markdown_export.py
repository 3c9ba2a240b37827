"""A page's Markdown has what a reader of the page sees, and leads to other Markdown."""

import re
import textwrap

import pytest

from book.exports import markdown_export
from book.source.parser import read

PAGE = """---
file_format: mystnb
kernelspec: {{name: mesh-of-eight, display_name: eight}}
book: {{kind: concept, budget: 60, short: {0}s}}
answers:
  - {{question: "How do I map [one] axis in {0}?", at: {0}}}
  - {{question: "What is __{0}__?", at: {0}}}
---

# {0}

Text.

```{{code-cell}}
:check:
assert 1
```
"""
LISTS = """# Lists

See [above](sums.md#of-__two_x).

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
SUMS = """---
file_format: mystnb
kernelspec: {name: target, display_name: t}
book: {kind: concept, budget: 5}
---

# Sums

The {term}`mesh` and {kbd}`Enter`,[^note]
[the next page](lists.md), [here](#of-__two_x).

[^note]: A note.

```{code-cell}
from IPython.display import HTML, Markdown

1 + 1
```

```{code-cell}
:check:
assert 1 + 1 == 2
```

```{code-cell}
:tags: [remove-input]
HTML("<svg><title id='x'>Two &amp; two.</title></svg>")
```

```{code-cell}
:tags: [hide-cell]
Markdown("- *a*\\n- b")
```

## Of __two_x

:::{dropdown} An *answer*
```{literalinclude} ../examples/twice.py
:pyobject: double
```
:::

::::{tab-set}
:::{tab-item} One
First.
:::
:::{tab-item} Two
Second.
:::
::::

::::{grid}
:::{grid-item-card} A card
Inside.
:::
::::
"""
TWICE = "TWO = 2\n\n\ndef double(x):\n    return TWO * x\n"


@pytest.fixture(scope="module")
def built(shared):
    """A book with lists of each kind."""
    for name in "one", "two":
        shared.write(f"docs/maps/{name}.md", PAGE.format(name))
    shared.write("docs/words.md", WORDS)
    shared.write("docs/lists.md", LISTS)
    shared.write("docs/sums.md", SUMS)
    shared.write("examples/twice.py", TWICE)
    shared.index("lists", "words", "sums", "maps/two", "maps/one")
    result = shared.build()
    assert result.code == 0, result.said
    return shared


def exported(book, name):
    """The Markdown of a page."""
    return (book.html / f"{name}.md").read_text()


def test_a_page_has_its_text_its_lessons_and_their_outputs(built):
    assert exported(built, "sums") == textwrap.dedent("""\
        # Sums

        The mesh and Enter,[^1]
        [the next page](lists.md), [here](#of-__two_x).

        ```python
        from IPython.display import HTML, Markdown

        1 + 1
        ```

        ```text
        2
        ```

        [Figure: Two & two.]

        ```python
        Markdown("- *a*\\n- b")
        ```

        - *a*
        - b

        ## Of \\_\\_two_x

        <details><summary>An *answer*</summary>

        ```python
        def double(x):
            return TWO * x
        ```

        </details>

        **One**

        First.

        **Two**

        Second.

        **A card**

        Inside.

        [^1]: A note.
        """)


def test_lists_lead_to_the_markdown_of_other_pages(built):
    text = exported(built, "lists")
    assert "3 pages, 6 cells, 3 assertions" in text
    assert "1. [two](maps/two.md), 1\N{NO-BREAK SPACE}min\n2. [one]" in text
    assert "- [How do I map [one] axis in one?](maps/one.md#one)" in text
    assert r"- [What is \_\_one\_\_?](maps/one.md#one)" in text
    assert "| [ones](maps/one.md) | 1 |" in text
    assert "[above](sums.md#of-__two_x)" in text  # as Markdown calls a heading
    assert "<form" not in text and "[](" not in text
    for name in re.findall(r"\]\(([\w/.]+)", text):
        assert (built.html / name).is_file()


def test_terms_and_their_meanings_are_exported(built):
    assert exported(built, "words").splitlines() == [
        *("# Words", "", "**mesh**", ""),
        *("Devices with named axes. See [one](maps/one.md).", ""),
        *("**shard**", "", "**replica**", ""),
        *("What a device holds of an array, on a mesh:", "", "- a part."),
    ]


def test_a_page_that_is_gone_or_fails_leaves_the_others(built, tmp_path):
    book = built.copied(tmp_path)
    path = book.docs / "maps/two.md"
    path.write_text(path.read_text().partition("# two")[0])
    (book.docs / "sums.md").unlink()
    book.index("lists", "words", "maps/two", "maps/one")
    result = book.build()
    assert result.code == 1 and "maps/two: is empty" in result.said
    assert exported(book, "words") == exported(built, "words")
    assert exported(book, "lists") != exported(built, "lists")
    assert not (book.html / "sums.md").exists()


def test_the_list_follows_the_book(tmp_path):
    texts = {
        "index": "# The book\n\n```{toctree}\nvmap/index\nwords\n```\n",
        "vmap/index": "# vmap: a batch\n\n```{toctree}\naxes\n```\n",
        "vmap/axes": "# Axes of `vmap`\n",
        "words": "# Words\n",
    }
    pages = {}
    for name, text in texts.items():
        path = tmp_path / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        pages[name] = read(path, name)
    assert markdown_export.index(pages, "index", "The book").splitlines() == [
        "# The book",
        "",
        "- [The book](index.md)",
        "- [Words](words.md)",
        "",
        "## vmap: a batch",
        "",
        "- [vmap: a batch](vmap/index.md)",
        "- [Axes of vmap](vmap/axes.md)",
    ]
