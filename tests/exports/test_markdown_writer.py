"""Markdown that is written says what the tree of nodes says."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from myst_parser.docutils_ import Parser

from book.exports.markdown_writer import MarkdownWriter, escape, fenced

SETTINGS = {
    "doctitle_xform": False,
    "myst_enable_extensions": ["colon_fence", "deflist", "dollarmath"],
    "report_level": 5,
}


def read(text):
    """The tree of a text in MyST's Markdown."""
    tree = publish_doctree(text, parser=Parser(), settings_overrides=SETTINGS)
    for block in tree.findall(nodes.literal_block):
        block["language"] = block["classes"][-1]  # where Sphinx has it
    return tree


def written(text):
    """What is written of a text."""
    parts = MarkdownWriter(str).parts(read(text))
    assert all(part.cell is None for part in parts)
    return "\n\n".join(part.text for part in parts)


SAME = """\
# A page

Some *words*, **more**, `code`, ``a ` b``, and [a link](https://x.y).
A second line.

## A section

- one
  - below it
- two

3. three
4. four

- a paragraph

  and one more

> quoted

| left | right |
| --- | ---: |
| `a\\|b` | 2 |
| one \\| two | 3 |

```python
f(x)
```

````text
```
````

---

See below.[^1]

[^1]: The note."""


def test_what_markdown_has_is_written_as_it_was_read():
    assert written(SAME) == SAME


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (":::{tip}\nUse *it*.\n:::", "**Tip**\n\nUse *it*."),
        (":::{admonition} A `b`\nText.\n:::", "**A `b`**\n\nText."),
        ("word\n: what it means", "**word**\n\nwhat it means"),
        ("```{image} a.png\n:alt: Two rows.\n```", "[Figure: Two rows.]"),
        ("![Two rows.](a.png)", "[Figure: Two rows.]"),
        ("An {emphasis}`x` and a {sup}`2`.", "An *x* and a 2."),
        ("<form><input></form>", ""),
        ("<div><svg><title>1 &amp; 2</title></svg></div>", "[Figure: 1 & 2]"),
        ("% a comment", ""),
        ("one\\\ntwo", "one<br>two"),
    ],
)
def test_what_only_directives_and_html_have_is_written_in_words(text, said):
    assert written(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "__init__ and _x_, a_b",
        "f(*args, **kwargs), 2 * 3",
        "x[0](y), x[0][1], [^1], [a]: b",
        "key<fry>, a < b, </p>",
        "`code` and \\n",
        "1. no list",
        "- no list",
        "# no heading",
        "> no quote",
        '"quotes", it\'s',
    ],
)
def test_text_that_looks_like_markdown_stays_text(text):
    paragraph = nodes.paragraph("", text)
    [read_again] = read(MarkdownWriter(str).block(paragraph)).children
    assert isinstance(read_again, nodes.paragraph)
    assert [type(node) for node in read_again.children] == [nodes.Text]
    assert read_again.astext() == text


def test_quotes_are_those_that_were_typed():
    curled = nodes.Text("\u201cit\u2019s\u201d")
    assert MarkdownWriter(str).inline(curled) == '"it\'s"'


def test_a_link_within_the_book_is_asked_for():
    for internal, target in ((True, "b.html#c"), (False, "https://b.html")):
        link = nodes.reference("", "a", internal=internal, refuri=target)
        assert MarkdownWriter(str.upper).inline(link) == (
            "[a](B.HTML#C)" if internal else "[a](https://b.html)"
        )
    inside = nodes.reference("", "a", internal=True, refid="c")
    assert MarkdownWriter(str.upper).inline(inside) == "[a](#C)"
    assert MarkdownWriter(lambda to: "").inline(inside) == "a"


def test_a_node_that_nobody_knows_is_written_as_what_it_contains():
    class Unknown(nodes.Element):
        pass

    block = Unknown("", nodes.paragraph("", "one"), nodes.paragraph("", "two"))
    assert MarkdownWriter(str).block(block) == "one\n\ntwo"
    line = nodes.paragraph("", "", Unknown("", nodes.strong("", "one")))
    assert MarkdownWriter(str).block(line) == "**one**"


def test_a_fence_is_longer_than_what_it_has_inside():
    assert fenced("\n  a\n```\n", "text") == "````text\n  a\n```\n````"
    assert escape("a\\b") == "a\\\\b"
