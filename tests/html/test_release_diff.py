"""What other JAX releases print in other words is shown, and what is new is told."""

import json
import re

import jax
import pytest

PAGE = """---
file_format: mystnb
kernelspec: {name: target}
book: {kind: look-up, budget: 30}
---

# Odd

```{code-cell}
print("seven", 7)
```

```{code-cell}
:raises: "TypeError: odd"
raise TypeError("odd now")
```

```{code-cell}
:check:
print("proved")
```

```{code-cell}
:alone:
print("measured")
```

```{code-cell}
"even"
```
"""
KEPT = "docs/evidence/outputs/{}.json"
SENTENCE = "{} outputs of JAX {} are not as kept, on odd: nox -s outputs keeps them"


@pytest.fixture
def odd(book):
    """A book with one page."""
    book.write("docs/odd.md", PAGE)
    book.index("odd")
    return book


def made(odd):
    """What a build left to be kept."""
    return json.loads((odd.docs / f"_build/outputs/{jax.__version__}.json").read_text())


def folded(odd):
    """What is folded on the page: titles and texts."""
    return re.findall(
        r"wordings.*?<summary>(.*?)</summary>.*?<pre>(?:<span></span>)?(.*?)\n*</pre>",
        odd.text("odd"),
        re.DOTALL,
    )


def test_other_words_are_shown_where_they_differ(odd):
    built = odd.build()
    assert built.code == 0, built.said
    assert SENTENCE.format(3, jax.__version__) in built.said
    assert folded(odd) == []
    texts = made(odd)
    assert list(texts["odd"].values()) == [
        "seven 7",
        "TypeError: odd now",
        "'even'",
    ]
    first, second, third = texts["odd"]

    odd.write(KEPT.format(jax.__version__), json.dumps(texts))
    same = "'even' https://docs.jax.dev/odd"
    texts["odd"] = {first: "seven\n8", second: "TypeError: odd then", third: same}
    odd.write(KEPT.format("0.1"), json.dumps(texts))
    odd.write(KEPT.format("0.2"), json.dumps(texts))
    built = odd.build()
    assert built.code == 0, built.said
    assert "not as kept" not in built.said
    assert odd.executed() == set()
    assert folded(odd) == [("The same in JAX 0.1 and 0.2", "TypeError: odd then")]
    assert "On JAX 0.1 and 0.2 one output has other words." in odd.text("odd")


def test_what_was_said_of_other_code_is_not_shown(odd):
    other = {"odd": {"0123456789ab": "TypeError: of other code"}}
    odd.write(KEPT.format("0.1"), json.dumps(other))
    odd.write(KEPT.format(jax.__version__), json.dumps(other))
    built = odd.build()
    assert built.code == 0, built.said
    assert SENTENCE.format(4, jax.__version__) in built.said
    assert folded(odd) == []


ABOUT = "error: {called: [print], raised: 'TypeError: odd'}"
DECLARED = "declares 'TypeError: odd', but raised "


@pytest.mark.parametrize(
    ("front", "raised", "broken"),
    [
        (ABOUT, "TypeError", ""),
        (ABOUT, "OSError", DECLARED + "OSError: strange now"),
        ("", "TypeError", DECLARED + "TypeError: strange now"),
    ],
)
def test_new_words_of_a_message_are_told_on_the_page_about_it(
    odd, front, raised, broken
):
    text = PAGE.replace('TypeError("odd now")', f'{raised}("strange now")')
    odd.write("docs/odd.md", text.replace("30}", f"30}}\n{front}"))
    built = odd.build()
    assert built.code == bool(broken)
    assert (broken or SENTENCE.format(3, jax.__version__)) in built.said
    if not broken:
        assert "TypeError: strange now" in made(odd)["odd"].values()
