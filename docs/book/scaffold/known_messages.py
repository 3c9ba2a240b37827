"""Which pages have the words of an error message already: in a heading, in quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_QUOTED = re.compile(r'"([^"]+)"')
_RAISED = re.compile(r"^  raised: (.*)$", re.MULTILINE)
_WORD = re.compile(r"[a-z_]{2,}")
FEWEST = 3  # words that a place has in common with a message that it is about
MOST = 0.8  # and so much of the words of the shorter one


@dataclass(frozen=True)
class Place:
    """A line of a page that quotes a message, and the words that it quotes."""

    file: str
    line: int
    quoted: str


def places(docs: Path) -> list[Place]:
    """What pages quote in headings, and the messages that they are about."""
    found = []
    for path in sorted(docs.glob("*/*.md")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            raised = _RAISED.match(line)
            quoted = _QUOTED.findall(line) if line.startswith("#") or raised else []
            name = path.relative_to(docs.parent).as_posix()
            found += [Place(name, number, text) for text in quoted]
    return found


def about(message: str, known: list[Place]) -> list[Place]:
    """Those of the `known` places that are about `message`, the best first."""
    said = _words(message)
    found = []
    for place in known:
        words = _words(place.quoted)
        shared = len(words & said)
        if shared >= FEWEST and shared >= MOST * min(len(words), len(said)):
            found.append((shared, place))
    return [place for _, place in sorted(found, key=lambda one: -one[0])]


def _words(text: str) -> set[str]:
    """The words of a message, without the type of the error."""
    text = re.sub(r"\b\w+(Error|Warning)\b", " ", text)
    return set(_WORD.findall(text.lower()))
