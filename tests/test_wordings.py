"""How other JAX releases word a message is shown, and what is new is told."""

import json
import re

import jax
import pytest

PAGE = """---
file_format: mystnb
kernelspec: {name: target}
book: {kind: look-up, budget: 30}
error: {called: [builtins.len], raised: "TypeError: odd"}
---

# "odd"

```{code-cell}
:raises: "TypeError: odd"
raise TypeError("odd now")
```

```{wordings}
```

```{code-cell}
:check:
assert True
```

```{code-cell}
:raises: "ValueError: even"
raise ValueError("even")
```

```{wordings}
```
"""
KEPT = "docs/errors/messages/{}.json"
SENTENCE = "{} messages of JAX {} are not as kept, on odd: nox -s messages keeps them"


@pytest.fixture
def shelf(book):
    """A book with one page on the shelf."""
    book.write("docs/errors/odd.md", PAGE)
    book.index("errors/odd")
    return book


def made(shelf):
    """What a build left to be kept."""
    return json.loads(
        (shelf.docs / f"_build/messages/{jax.__version__}.json").read_text()
    )


def folded(shelf):
    """What is folded on the page: titles and texts."""
    return re.findall(
        r"wordings.*?<summary>(.*?)</summary>.*?<pre>(?:<span></span>)?(.*?)\n*</pre>",
        shelf.text("errors/odd"),
        re.DOTALL,
    )


def test_other_wordings_are_shown_where_they_differ(shelf):
    built = shelf.build()
    assert built.code == 0, built.said
    assert SENTENCE.format(2, jax.__version__) in built.said
    assert folded(shelf) == []
    messages = made(shelf)
    assert list(messages["errors/odd"].values()) == [
        "TypeError: odd now",
        "ValueError: even",
    ]
    first, second = messages["errors/odd"]

    shelf.write(KEPT.format(jax.__version__), json.dumps(messages))
    same = "ValueError:\neven https://docs.jax.dev/odd"
    messages["errors/odd"] = {first: "TypeError: odd then", second: same}
    shelf.write(KEPT.format("0.1"), json.dumps(messages))
    shelf.write(KEPT.format("0.2"), json.dumps(messages))
    built = shelf.build()
    assert built.code == 0, built.said
    assert "not as kept" not in built.said
    assert shelf.executed() == set()
    assert folded(shelf) == [
        ("The same message in JAX 0.1 and 0.2", "TypeError: odd then")
    ]


def test_what_was_said_of_other_code_is_not_shown(shelf):
    other = {"errors/odd": {"0123456789ab": "TypeError: of other code"}}
    shelf.write(KEPT.format("0.1"), json.dumps(other))
    shelf.write(KEPT.format(jax.__version__), json.dumps(other))
    built = shelf.build()
    assert built.code == 0, built.said
    assert SENTENCE.format(3, jax.__version__) in built.said
    assert folded(shelf) == []


def test_wordings_stand_below_a_cell_that_raises(shelf):
    page = PAGE.replace('# "odd"\n', '# "odd"\n\n```{wordings}\n```\n')
    shelf.write("docs/errors/odd.md", page)
    built = shelf.build()
    assert built.code == 1
    assert "stands below a cell that raises, in errors/" in built.said
