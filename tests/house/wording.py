"""Which words pages, programs and exercises use, and which they do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from book.source.exercises import PREFIX
from book.source.model import Page
from tests.house.book import Book, Program, at, docstrings

BANNED = re.compile(
    r"\b(simply|just(?!-in-time)|obviously|note\s+that|please|powerful|seamless(?:ly)?"
    r"|leverag(?:e|es|ed|ing)|delv(?:e|es|ed|ing))\b",
    re.IGNORECASE,
)
# What a thing may be called elsewhere, and JAX's word for it.
NOT_OURS = {
    r"\b(?:cut|cuts|cutting)\s+(?:it\s+)?(?:over|along|into|up)\b": "sharded, shards",
    r"\bpieces?\s+of\s+(?:the|an?|its|each)\b": "shard",
    r"\ba copy for everybody\b": "replicated",
    r"\blanes?\b": "example, batch element",
    r"\bthe inner axis\b": "contracting dimension",
    r"\bthe way back\b": "backward pass",
    r"\bon the way\b": "intermediates, residuals",
    r"\b(?:made|traced|compiled) anew\b|\bcompiles again\b": "retraced, recompiled",
    r"\bdear(?:er|est)?\b": "expensive, and how much",
    r"\bwhat is sent\b|\bwhat it sends\b": "communication",
    r"\b(?:talk|talks|talking)\b": "communicate; name the collective",
}
SHOWN = {r"\bblocks?\b": "shard", r"\bhand by hand\b": "what it computes"}


def page_is_calm(page: Page) -> list[str]:
    """No page uses a word that the house does not."""
    return banned(page.text, f"docs/{page.name}.md")


def program_is_calm(program: Program) -> list[str]:
    """No docstring uses a word that the house does not."""
    where = f"examples/{program.name}.py"
    return [
        sentence
        for line, text in docstrings(program)
        for sentence in banned(text, where, line)
    ]


def front_door_is_calm(book: Book) -> list[str]:
    """README and CONTRIBUTING use no word that the pages do not."""
    found = []
    for name in ("README.md", "CONTRIBUTING.md"):
        path = book.root / name
        if path.exists():
            found += banned(path.read_text(encoding="utf-8"), name)
    return found


def banned(text: str, where: str, first: int = 1) -> list[str]:
    """Complain of banned words in `text`, whose first line is number `first`."""
    found = []
    for match in BANNED.finditer(text):
        line = text.count("\n", 0, match.start()) + first
        word = " ".join(match[0].split())
        found.append(f"{where}:{line}: {word!r} says nothing; leave it out.")
    return found


def words_are_jaxs(page: Page) -> list[str]:
    """A thing is called what JAX calls it."""
    text = [*page.prose, *((h.line, h.text) for h in page.headings)]
    return [at(page, n, what) for n, t in text for what in _private(t, NOT_OURS)]


def exercises_say_jaxs_words(book: Book) -> list[str]:
    """Pages show what a mistake and a solution say of themselves, in JAX's words."""
    found = []
    for path in sorted((book.root / "examples" / "exercises").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            named = isinstance(node, ast.FunctionDef) and node.name
            if named and (named == "solution" or named.startswith(PREFIX)):
                said = " ".join((ast.get_docstring(node) or "").split())
                where = f"{path.relative_to(book.root)}:{node.lineno}"
                for what in _private(said, NOT_OURS | SHOWN):
                    found.append(f"{where}: {what}.")
    return found


def _private(text: str, words: dict[str, str]) -> Iterator[str]:
    bare = re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)
    for pattern, better in words.items():
        if match := re.search(pattern, bare, re.IGNORECASE):
            yield f"{match[0]!r} is not JAX's word; say {better}"


def first_uses_lead_to_the_words(book: Book) -> list[str]:
    """Where a page first uses a word of `words.md`, a link leads there."""
    words = book.root / "docs" / "words.md"
    if not words.exists():
        return []
    found = []
    for name in book.page_names:
        page = book.page(name)
        if page.kind:
            found += _unlinked(page, terms(words))
    return found


def terms(words: Path) -> list[str]:
    """Return the words that the glossary defines."""
    text = words.read_text(encoding="utf-8")
    return re.findall(r"^(\S.*)\n  \S", text.split("```{glossary}")[1], re.MULTILINE)


def _unlinked(page: Page, known: list[str]) -> Iterator[str]:
    lines = [(n, re.sub(r"\]\([^)]*\)", "]", t)) for n, t in page.prose]
    for term in known:
        first = next((n for n, t in lines if _says(t, term)), None)
        linked = re.search(rf"\{{term\}}`(?:[^`]*<)?{re.escape(term)}>?`", page.text)
        if first and not linked:
            what = f"{term!r} is first used here; write {{term}}`{term}`"
            yield at(page, first, what)


def _says(text: str, term: str) -> bool:
    bare = re.sub(r"`[^`]*`", "", text)
    return bool(re.search(rf"(?<![\w-]){re.escape(term)}(?![\w-])", bare))
