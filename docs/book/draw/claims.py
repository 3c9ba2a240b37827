"""Draw claims with what became of them, so that a reader can choose by verdict.

Promise: what is drawn is what a build found: each entry has the claim, what was printed
then, what happens now, the verdict, and the proof that ran, under an address of its
own.  To choose needs no script: radio buttons, and the stylesheet does the rest.

    from book.draw.claims import chooser, ledger
    chooser(article=claims)
    ledger("article", claims, found)
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Protocol

# Kinds of verdict as the claims spell them, and as the stylesheet does.
SLUGS = {
    "holds": "holds",
    "changed": "changed",
    "never so": "never",
    "cannot be checked here": "unchecked",
    "gone": "never",
    "here": "holds",
}


class Claim(Protocol):
    """What somebody wrote once, and what a build finds of it now."""

    says: str  # the claim; code between backticks
    then: str  # what was printed then, if anything was
    verdict: tuple[str, str]  # a key of SLUGS, and a detail that may be empty
    proof: Callable  # the function whose code is shown


class Drawing:
    """Some HTML that a notebook shows; `words` say what it is without it."""

    def __init__(self, words: str, html: str):
        self.words, self.html = words, html

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return self.html


def chooser(**documents: Sequence[Claim]) -> Drawing:
    """Draw radio buttons for the verdicts, and how many claims of each there are.

    documents: the claims of each, by the prefix as in `ledger`.
    """
    counts = {
        p: Counter(c.verdict[0] for c in claims) for p, claims in documents.items()
    }
    total: Counter[str] = Counter()
    for count in counts.values():
        total += count
    kinds = {kind: slug for kind, slug in SLUGS.items() if total[kind]}
    buttons = [("all", "all", total.total())]
    buttons += [(slug, kind, total[kind]) for kind, slug in kinds.items()]
    radios = "".join(
        f'<label><input type="radio" name="verdict" id="show-{slug}"'
        f"{' checked' if slug == 'all' else ''}> {kind} <b>{count}</b></label>"
        for slug, kind, count in buttons
    )
    return Drawing(
        f"{total.total()} claims",
        f'<fieldset class="chooser"><legend>Show</legend>{radios}</fieldset>'
        + _tally(counts, kinds),
    )


def _tally(counts: Mapping[str, Counter[str]], kinds: Mapping[str, str]) -> str:
    """Return a table: how many claims of each of `kinds` a document has."""
    words = "all", *[kind if len(kind) < 9 else slug for kind, slug in kinds.items()]
    head = "".join(f'<th scope="col">{word}</th>' for word in words)
    rows = "".join(
        f'<tr><th scope="row"><a href="#{prefix}-1">{prefix.replace("-", " ")}</a></th>'
        f"<td>{count.total()}</td>"
        + "".join(f"<td>{count[kind]}</td>" for kind in kinds)
        + "</tr>"
        for prefix, count in counts.items()
    )
    return (
        '<div class="table-wrapper"><table class="docutils tally"><thead><tr>'
        f'<th scope="col">where</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def ledger(prefix: str, claims: Sequence[Claim], found: Iterable[str]) -> Drawing:
    """Draw each of `claims` with what was `found` for it, a text for each.

    Entry n has the address `#prefix-n`.  Raises ValueError where the lengths
    differ, KeyError for an unknown verdict.
    """
    entries = "".join(
        _entry(f"{prefix}-{number}", number, claim, now)
        for number, (claim, now) in enumerate(zip(claims, found, strict=True), 1)
    )
    none = '<p class="no-claims">Nothing here is of this kind.</p>'
    return Drawing(f"{len(claims)} claims", f'<ol class="ledger">{entries}</ol>{none}')


def source(proof: Callable) -> str:
    """Return the code of a proof without its decorator and its docstring."""
    text = textwrap.dedent(inspect.getsource(proof))
    lines, function = text.splitlines(), ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    if ast.get_docstring(function) is None:
        return "\n".join(lines[function.lineno - 1 :])
    docstring = function.body[0]
    head = lines[function.lineno - 1 : docstring.lineno - 1]
    body = lines[docstring.end_lineno :]
    while body and not body[0].strip():
        del body[0]
    return "\n".join(head + body)


def _entry(name: str, number: int, claim: Claim, now: str) -> str:
    kind, detail = claim.verdict
    why = detail.startswith("because ")  # a clause of its own, not a part of the badge
    badge = f"<strong>{kind}</strong>" + ("" if why else f" {escape(detail)}").rstrip()
    rows = [
        ("then", claim.then and f"<code>{escape(claim.then)}</code>"),
        ("now", _prose(now)),
        ("why", _prose(detail) if why else ""),
    ]
    # White space between elements keeps words apart in the search index; code without
    # colours keeps a page of a hundred proofs small.
    facts = "\n".join(f"<dt>{word}</dt> <dd>{html}</dd>" for word, html in rows if html)
    code = escape(source(claim.proof))
    return (
        f'<li id="{name}" class="claim" data-verdict="{SLUGS[kind]}">'
        f'<p class="says"><a class="number" href="#{name}">{number}</a>'
        f'<span>{_prose(claim.says)}</span> <span class="verdict">{badge}</span></p>'
        f"\n<dl>{facts}</dl>\n"
        f'<details><summary>Proof<span class="sr-only"> of number {number}</span>'
        f'</summary>\n<div class="highlight"><pre>{code}</pre></div></details></li>\n'
    )


def _prose(text: str) -> str:
    """Return text as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
