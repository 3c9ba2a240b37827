"""A page as plain Markdown has what a reader sees of it."""

import textwrap

from book.exports import markdown
from book.source.parser import read

PAGE = """\
---
file_format: mystnb
kernelspec: {name: target, display_name: t}
book: {kind: concept, budget: 5}
answers:
  - {question: a, at: sums}
  - {question: b, at: sums}
---

# Sums

The {term}`mesh`, and [the next page](other.md#here).

```{code-cell}
1 + 1
```

```{code-cell}
:check:
assert 1 + 1 == 2
```

```{code-cell}
:tags: [remove-input]
paint()
```

```{code-cell}
:tags: [remove-input]
table()
```
"""
OUTPUTS = [
    [{"output_type": "execute_result", "data": {"text/plain": "2"}}],
    [],
    [
        {
            "output_type": "display_data",
            "data": {
                "image/svg+xml": "<svg><title id='x'>Two &amp; two.</title></svg>"
            },
        }
    ],
    [
        {
            "output_type": "execute_result",
            "data": {"text/markdown": "| a |\n| --- |\n", "text/plain": "<object>"},
        }
    ],
]


def test_a_page_has_its_text_its_lessons_and_their_outputs(tmp_path):
    path = tmp_path / "sums.md"
    path.write_text(PAGE)
    assert markdown.markdown(read(path, "sums"), OUTPUTS) == textwrap.dedent("""\
        # Sums

        The mesh, and [the next page](other.md#here).

        ```python
        1 + 1
        ```

        ```text
        2
        ```

        [Figure: Two & two.]

        | a |
        | --- |
        """)


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
    assert markdown.index(pages, "index", "The book").splitlines() == [
        "# The book",
        "",
        "- [The book](index.md)",
        "",
        "## vmap: a batch",
        "",
        "- [vmap: a batch](vmap/index.md)",
        "- [Axes of vmap](vmap/axes.md)",
        "- [Words](words.md)",
    ]
