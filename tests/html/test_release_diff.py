"""Messages that another JAX release words otherwise are shown, and never falsely."""

import json
import re

import jax
import pytest

from book.html.release_diff import words

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
:raises: "TypeError: f() got"
raise TypeError("f() got an unexpected keyword argument 'a'. Did you mean 'b'?")
```

```{code-cell}
:raises: "ValueError: off by"
raise ValueError("off by 4e-07")
```

```{code-cell}
:check:
print("proved")
```
"""
KEPT = "docs/evidence/outputs/{}.json"
OWN = KEPT.format(jax.__version__)
KEEP = ("-D", "book_keep_outputs=1")


@pytest.fixture
def odd(book):
    """A book with one page."""
    book.write("docs/odd.md", PAGE)
    book.index("odd")
    return book


def kept(odd):
    """What was kept of the page on this release: codes of cells, and messages."""
    return json.loads((odd.root / OWN).read_text())["odd"]


def folded(odd):
    """What is folded on the page: titles and texts."""
    return re.findall(
        r"wordings.*?<summary>(.*?)</summary>.*?<pre>(?:<span></span>)?(.*?)\n*</pre>",
        odd.text("odd"),
        re.DOTALL,
    )


def test_other_words_of_a_message_are_shown_and_nothing_else(odd):
    built = odd.build(*KEEP)
    assert built.code == 0, built.said
    messages = kept(odd)
    first, second, third = messages
    assert messages[first] == "TypeError: odd now"
    others = {
        first: "TypeError: odd then",
        second: "TypeError: f() got an unexpected keyword argument 'a'",
        third: "ValueError: off by 0",
        "0123456789ab": "TypeError: of a cell that is not there",
    }
    for release in "0.1", "0.2":
        odd.write(KEPT.format(release), json.dumps({"odd": others}))
    built = odd.build()
    assert built.code == 0, built.said
    assert odd.executed() == set()
    assert folded(odd) == [("The same in JAX 0.1 and 0.2", "TypeError: odd then")]
    assert "On JAX 0.1 and 0.2 one message has other words." in odd.text("odd")

    (odd.root / KEPT.format("0.2")).unlink()
    built = odd.build()
    assert built.code == 0, built.said
    assert folded(odd) == [("The same in JAX 0.1", "TypeError: odd then")]


@pytest.mark.parametrize(
    ("now", "what"),
    [
        ({0: "TypeError: odd then"}, "cell 2: docs/{} is stale"),
        ({1: "TypeError: f() got nothing"}, "cell 3: docs/{} is stale"),
        ({2: None}, "cell 4: docs/{} does not have this message"),
    ],
)
def test_a_file_that_is_stale_fails_the_build_until_it_is_renewed(odd, now, what):
    assert odd.build(*KEEP).code == 0
    right = kept(odd)
    codes = list(right)
    changed = right | {codes[which]: text for which, text in now.items()}
    changed = {cell: text for cell, text in changed.items() if text}
    odd.write(OWN, json.dumps({"odd": changed}))
    built = odd.build()
    assert built.code == 1
    where = f"evidence/outputs/{jax.__version__}.json"
    assert f"odd, {what.format(where)}; `nox -s outputs` renews it" in built.said
    assert odd.build(*KEEP).code == 0
    assert kept(odd) == right
    built = odd.build()
    assert built.code == 0, built.said


def test_of_a_release_of_which_nothing_is_kept_everything_is_welcome(odd):
    odd.write(KEPT.format("0.1"), "{}")
    built = odd.build()
    assert built.code == 0, built.said
    assert not (odd.root / OWN).exists()


def test_on_another_target_nothing_is_compared(odd):
    targets = (odd.docs / "targets.toml").read_text()
    same = targets.partition("[cpu]")[2].partition("[gpu]")[0]
    odd.targets(f"{targets}\n[same]{same}")
    for release in "0.1", jax.__version__:
        odd.write(KEPT.format(release), json.dumps({"odd": {}}))
    built = odd.build("-D", "book_target=same")
    assert built.code == 0, built.said
    assert odd.build().code == 1


def test_a_build_of_one_page_keeps_the_messages_of_the_others(odd):
    odd.write("docs/even.md", PAGE.replace("Odd", "Even").replace("odd", "even"))
    odd.index("odd", "even")
    assert odd.build(*KEEP).code == 0
    before = json.loads((odd.root / OWN).read_text())
    gone = before | {"gone": {"0": "TypeError: gone"}}
    odd.write(OWN, json.dumps(gone))
    odd.write(
        "docs/even.md", PAGE.replace("odd", "even").replace("even now", "even later")
    )
    one = ("-D", "root_doc=even", "-D", "include_patterns=even.md")
    built = odd.build(*KEEP, *one)
    assert built.code == 0, built.said
    after = json.loads((odd.root / OWN).read_text())
    assert after["odd"] == before["odd"] and set(after) == {"odd", "even"}
    assert "TypeError: even later" in after["even"].values()


def test_of_a_build_that_failed_nothing_is_kept(odd):
    odd.write("docs/odd.md", PAGE.replace('print("proved")', "assert False"))
    built = odd.build(*KEEP)
    assert built.code == 1
    assert not (odd.root / OWN).exists()


@pytest.mark.parametrize("text", ["{", '{"odd": {"1": 3}}', '{"odd": 3}', "[]", "3"])
def test_a_file_that_keeps_no_messages_is_told_once(odd, text):
    odd.write(KEPT.format("0.1"), text)
    built = odd.build()
    assert built.code == 1
    assert built.said.count("outputs/0.1.json is not what `nox -s outputs` keeps") == 1


LEAK = "Leaked tracer(s):\n<Tracer 139802810584224> is referred to by {}"
SHOWN = "Leaked tracer(s):\n<Tracer …> is referred to by {}"  # without its address


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("off by 0", "off by 4e-07"),
        ("off by 1.5E+3, 12", "off by 3"),
        ("at 0x7fd18e3b9f10", "at 0x7fd1aaaaaa10"),
        ("see https://a.org/b\nfor more", "see for more"),
        (
            "f() got an unexpected keyword argument 'a'",
            "f() got an unexpected\nkeyword argument 'a'. Did you mean 'bc'?",
        ),
        (LEAK.format("<dict\n139802812695296>['x']"), LEAK.format("a frame")),
        (SHOWN.format("<dict\n…>['x']"), SHOWN.format("a frame")),
    ],
)
def test_numbers_and_what_python_adds_are_no_words(one, other):
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("got 4 axes", "got 4 names"),
        ("got an axis", "got a axis"),
        ("of float32[8@data]", "of float32[8@model]"),
        ("an axis. Did you mean 'rows'?", "an axis"),
    ],
)
def test_other_words_are_other_words(one, other):
    assert words(one) != words(other)


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
def test_new_words_of_a_message_are_shown_on_the_page_about_it(
    odd, front, raised, broken
):
    text = PAGE.replace('TypeError("odd now")', f'{raised}("strange now")')
    odd.write("docs/odd.md", text.replace("30}", f"30}}\n{front}"))
    built = odd.build(*KEEP)
    assert built.code == bool(broken)
    assert broken in built.said
    if not broken:
        assert "TypeError: strange now" in kept(odd).values()
