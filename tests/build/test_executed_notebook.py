"""MyST-NB shows a page with the outputs that this build has for it."""

import re

PAGE = """---
file_format: mystnb
kernelspec: {name: target}
book: {kind: concept, budget: 30}
date: 2026-11-01
---

# Twice

```{code-cell}
import time

print("at", time.time_ns())
```

```{code-cell}
:check:
assert True
```
"""


def test_two_pages_of_the_same_text_show_each_their_own_outputs(book):
    for name in "first", "second":
        book.write(f"docs/{name}.md", PAGE)
    book.index("first", "second")
    built = book.build()
    assert built.code == 0, built.said
    first, second = (
        re.search(r"at (\d+)", book.text(name))[1] for name in ("first", "second")
    )
    assert first != second


def test_a_table_in_markdown_that_a_cell_shows_is_a_table(book):
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    book.page("table", f"from IPython.display import Markdown\nMarkdown({table!r})")
    assert book.build().code == 0
    assert "<td><p>2</p></td>" in book.text("table")
