"""What a translation has to have of its English: code, links, roles, numbers, bold."""

from __future__ import annotations

import re

_CODE = re.compile(r"`+[^`]+`+")
_ROLE = re.compile(r"\{[a-z:+]+\}(?=`)")
_ROLE_TARGET = re.compile(r"\{[a-z:+]+\}`[^`<]*?<?([^`<>]+)>?`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FIELD = re.compile(r"\{[\w:,.]*\}")  # of a text of the engine
_NUMBER = re.compile(r"\d[\d,.]*")


def disagreements(english: str, translation: str) -> list[str]:
    """What differs between a text and its translation, a sentence each."""
    here, there = _parts(english), _parts(translation)
    return [
        f"{kind}: {here[kind]} in English, {there[kind]} in the translation"
        for kind in here
        if here[kind] != there[kind]
    ]


def _parts(text: str) -> dict[str, list[str]]:
    """What stays the same in another language, each kind in alphabetical order."""
    plain = re.sub(r"\{[a-z:+]+\}`[^`]+`", " ", text)  # the words of a role may change
    bare = _LINK.sub(" ", _CODE.sub(" ", plain))
    numbers = [one.strip(".,") for one in _NUMBER.findall(_FIELD.sub(" ", bare))]
    return {
        "code": sorted(_CODE.findall(plain)),
        "roles": sorted(_ROLE.findall(text)),
        "targets of roles": sorted(one.strip() for one in _ROLE_TARGET.findall(text)),
        "links": sorted(_LINK.findall(text)),
        "numbers": sorted(number for number in numbers if number),
        "fields": sorted(_FIELD.findall(bare)),
        "bold": ["**"] * text.count("**"),
    }
