"""A build ends with what it found."""

SECOND = """---
file_format: mystnb
kernelspec: {name: target}
book: {kind: concept, budget: 30}
answers:
  - question: How many?
    at: how-many-there-are
---

# Second

## How many there are

```{code-cell}
x = 2
```

```{code-cell}
:check:
assert x == 2
```
"""


def test_pages_are_counted_and_answers_lead_somewhere(book):
    book.page("first", "assert True")
    book.write("docs/second.md", SECOND)
    book.index("first", "second")
    built = book.build()
    assert built.code == 0, built.said
    assert "3 pages\n" in built.said
    assert '"how-many-there-are"' in book.text("second")
    book.write("docs/second.md", SECOND.replace("at: how-many-", "at: how-few-"))
    built = book.build()
    assert built.code == 1
    assert "second.md:7: WARNING: second: answers at 'how-few-there-are'" in built.said
    (book.docs / "first.md").unlink()
    book.write("docs/second.md", SECOND)
    book.index("second")
    assert "2 pages\n" in book.build().said
