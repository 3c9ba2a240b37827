"""The drawing of claims: every entry is there, has an address, and can be chosen."""

import re
from pathlib import Path

import pytest

from book.draw.claims import SLUGS, chooser, ledger, source
from examples.evidence.then_and_now import HOLDS, NEVER, changed, claim, unchecked

CSS = (Path(__file__).parents[2] / "docs/_static/book.css").read_text()


@claim(HOLDS, then="Array<0>")
def first(given):
    """`a < b` holds."""
    assert given

    return "now `c`"


def plain(given):
    assert given
    return "now"


CLAIMS = (first, claim(NEVER)(plain), claim(changed("0.8.0"))(plain))
CLAIMS += (claim(unchecked("it is not here"))(plain),)


def drawn(found=("now `c`", "x", "y", "z")):
    """Return the HTML of the four claims."""
    claims = [one._replace(says=one.says or "It is so.") for one in CLAIMS]
    return ledger("article", claims, found)._repr_html_()


def test_each_claim_is_an_entry_with_an_address():
    text = drawn()
    assert re.findall(r'<li id="([\w-]+)"', text) == [
        f"article-{n}" for n in range(1, 5)
    ]
    assert all(f'href="#article-{n}"' in text for n in range(1, 5))
    assert re.findall(r'data-verdict="(\w+)"', text) == [
        *("holds", "never", "changed", "unchecked")
    ]


def test_words_are_escaped_and_code_is_code():
    text = drawn()
    assert "<code>a &lt; b</code> holds." in text
    assert "<code>Array&lt;0&gt;</code>" in text
    assert "now <code>c</code>" in text


def test_a_verdict_says_since_when_or_why():
    text = drawn()
    assert "<strong>changed</strong> in JAX 0.8.0<" in text
    assert "<dt>why</dt> <dd>because it is not here</dd>" in text


def test_a_proof_is_shown_without_what_the_entry_says_already():
    assert source(first.proof) == (
        'def first(given):\n    assert given\n\n    return "now `c`"'
    )
    assert source(plain).startswith("def plain(given):\n    assert given")


def test_words_of_an_entry_stand_apart_for_the_search():
    bare = re.sub(r"</?(?!li|ol)\w[^>]*>", "", drawn())
    assert "then Array" in bare and "now now c" in bare


def test_every_claim_needs_what_was_found():
    with pytest.raises(ValueError, match="shorter"):
        drawn(("now",))


def test_an_unknown_verdict_is_an_error():
    with pytest.raises(KeyError):
        ledger("a", [first._replace(verdict=HOLDS._replace(kind="maybe"))], ["now"])


def test_the_buttons_count_and_the_stylesheet_knows_each():
    text = chooser(article=CLAIMS)._repr_html_()
    for slug in SLUGS.values():
        assert text.count(f'id="show-{slug}"') == 1
        assert (
            f'body:has(#show-{slug}:checked) .claim:not([data-verdict="{slug}"])' in CSS
        )
        assert f'.claim[data-verdict="{slug}"] {{' in CSS
    assert "all <b>4</b>" in text and "never so <b>1</b>" in text
    assert ">article</a>" in text and text.count(" checked>") == 1
    assert text.count('name="verdict"') == 5
