"""What readers ask is collected, and each question leads to its answer."""

PAGE = """---
file_format: mystnb
kernelspec: {{name: target}}
book: {{kind: concept, budget: 30}}
answers:
  - question: How many [are] there?
    at: how-many-there-are
  - question: {other}
    at: which-ones
---

# {title}

## How many there are

## Which ones

```{{code-cell}}
x = 2
```

```{{code-cell}}
:check:
assert x == 2
```
"""
LIST = "# Asked\n\n```{questions} maps\n```\n"


def test_questions_lead_to_answers_in_the_order_of_the_contents(book):
    book.write("docs/maps/a.md", PAGE.format(title="Page A", other="Which?"))
    book.write("docs/maps/b.md", PAGE.format(title="Page B", other="Which, of b?"))
    book.write("docs/asked.md", LIST)
    book.write(
        "docs/index.md",
        "# Index\n\n```{toctree}\nmaps/b\nmaps/a\nasked\n```\n",
    )
    built = book.build()
    assert built.code == 0, built.said
    text = book.text("asked")
    first, second = text.index(">Page B<"), text.rindex(">Page A<")
    assert first < text.index("Which, of b?") < second
    assert 'href="maps/b.html#which-ones"' in text
    assert "How many [are] there?" in text
    book.write("docs/maps/a.md", PAGE.format(title="Page A", other="Which, of a?"))
    built = book.build()
    assert built.code == 0, built.said
    assert "Which, of a?" in book.text("asked")
    assert book.executed() == set()
    book.write("docs/asked.md", LIST.replace("maps", "mops"))
    built = book.build()
    assert built.code == 1
    assert "ERROR: no page in mops/ has `answers`" in built.said
