"""A stylesheet without the rules that no page of the site can use.

A rule stays if each class that its selector asks for stands on a page that was built,
or in a script, which may set it.  Most of a theme's stylesheet is for other sites.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MARK = re.compile(r""" "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | [{};] """, re.VERBOSE)
_GROUPS = ("@media", "@supports", "@layer", "@container")
_CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
_CLASSES = re.compile(r"""\bclass=(?:"([^"]*)"|'([^']*)')""")
_INNERMOST = re.compile(r"\([^()]*\)|\[[^\]]*\]")


def classes(page: str) -> set[str]:
    """The classes on a page."""
    found = {double or single for double, single in _CLASSES.findall(page)}
    return set(" ".join(found).split())


def words(script: str) -> set[str]:
    """Every word of a script."""
    return set(re.findall(r"[\w-]+", script))


def purge(css: str, known: set[str]) -> str:
    """The rules of `css` that ask for no class but those in `known`."""
    return "".join(_kept(_COMMENT.sub("", css), known))


def _kept(css: str, known: set[str]) -> Iterator[str]:
    for prelude, body in _rules(css):
        head = prelude.strip()
        if body is None:
            yield f"{head};" if head else ""
        elif head.startswith(_GROUPS):
            if inside := "".join(_kept(body, known)):
                yield f"{head}{{{inside}}}"
        elif head.startswith("@"):
            yield f"{head}{{{body}}}"
        else:
            chosen = [one for one in _selectors(head) if _asks(one) <= known]
            if chosen and body.strip():
                yield f"{','.join(chosen)}{{{body}}}"


def _selectors(head: str) -> Iterator[str]:
    """The selectors of a list; a comma in parentheses does not end one."""
    start = depth = 0
    for mark in re.finditer(r"[(\[\])]|,", head):
        depth += (mark[0] in "([") - (mark[0] in ")]")
        if mark[0] == "," and not depth:
            yield head[start : mark.start()]
            start = mark.end()
    yield head[start:]


def _asks(selector: str) -> set[str]:
    """The classes without which `selector` chooses nothing; not those in `:not(…)`."""
    if "\\" in selector:
        return set()  # an escaped name, left alone
    before = None
    while before != selector:
        before, selector = selector, _INNERMOST.sub("", selector)
    return set(_CLASS.findall(selector))


def _rules(css: str) -> Iterator[tuple[str, str | None]]:
    """What stands in front of each outermost block, and the block; None without one."""
    start, depth, opened = 0, 0, 0
    for mark in _MARK.finditer(css):
        if mark[0] == "{":
            opened, depth = (mark.start() if not depth else opened), depth + 1
        elif mark[0] == "}":
            depth -= 1
            if not depth:
                yield css[start:opened], css[opened + 1 : mark.start()]
                start = mark.end()
        elif mark[0] == ";" and not depth:
            yield css[start : mark.start()], None
            start = mark.end()
