"""The text of a page as plain Markdown, for whoever reads it elsewhere.

MyST's directives and roles become what they say; of what the book lists, whoever asks
for the text says it, or it is left to the site; figures are, too.  A link leads to the
site, or is its text alone where nobody has said where the site is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

_OPENS = re.compile(r"\s*(?P<marks>:{3,}|`{3,}|~{3,})(\{(?P<name>[\w-]+)\})?\s*(.*)")
_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_ROLE = re.compile(r"\{(?:term|kbd)\}`(?P<text>[^`<]+?)\s*(?:<[^`>]*>)?`")
_KEEPS = {"admonition", "container", "dropdown", "literalinclude", "glossary"}
_LISTS = {"chapter": "list", "messages": "list", "questions": "list"}
_LISTS |= {"compiled": "table", "record": "table"}
_FORM = re.compile(r"\s*<form\b.*</form>\s*")
Says = Callable[[str, str, list[str]], str]
_TARGET = re.compile(r"\]\(([^()\s]*)\)")


def silent(name: str, argument: str, body: list[str]) -> str:
    """Say nothing of any directive."""
    return ""


class Prose:
    """Makes Markdown of the texts of the page at `path`, called `name`.

    `site` is the address of the book's first page, or "".  Whoever `keeps` links
    stands beside the pages' own Markdown, which they lead to.  `says` knows what the
    directives list, by name, argument and body; "" of those that it does not know.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        site: str = "",
        keeps: bool = False,
        says: Says = silent,
    ):
        self.path = path
        self.keeps = keeps
        self.says = says
        self.address = site and urljoin(site.rstrip("/") + "/", f"{name}.html")

    def markdown(self, text: str) -> str:
        """`text`, which may be all between two cells."""
        return re.sub(r"\n{3,}", "\n\n", self._lines(text.splitlines())).strip()

    def _lines(self, lines: list[str]) -> str:
        made, plain, at = [], [], 0
        while at < len(lines):
            match = _OPENS.fullmatch(lines[at])
            if not match:
                plain += [] if _FORM.fullmatch(lines[at]) else [lines[at]]
                at += 1
                continue
            made += [self._inline("\n".join(plain)), ""] if plain else []
            end = _closes(lines, at, match["marks"])
            if match["name"]:
                made += [self._directive(match, lines[at + 1 : end]), ""]
            else:
                made += [*lines[at : end + 1], ""]
            plain, at = [], end + 1
        return "\n".join([*made, self._inline("\n".join(plain))])

    def _directive(self, match: re.Match, body: list[str]) -> str:
        name, argument = match["name"], match[4].strip()
        options = {}
        while body and (option := re.fullmatch(r":([\w-]+):\s*(.*)", body[0])):
            options[option[1]], body = option[2], body[1:]
        if name in _LISTS:
            told = f"*A {_LISTS[name]} on the site.*"
            return self.says(name, argument, body) or told
        if name not in _KEEPS:
            return ""
        if name == "glossary":
            return self._lines(_terms(body))
        if name == "literalinclude":
            return self._listing(argument, options.get("pyobject"))
        inner = self._lines(body).strip()
        if name == "dropdown":
            title = self._inline(argument)
            return f"<details><summary>{title}</summary>\n\n{inner}\n\n</details>"
        return f"**{self._inline(argument)}**\n\n{inner}" if name == _BOX else inner

    def _listing(self, file: str, pyobject: str | None) -> str:
        path = (self.path.parent / file).resolve()
        if not path.is_file():
            return ""  # Sphinx says so
        text = path.read_text(encoding="utf-8").strip()
        if pyobject:
            text = _object(text, pyobject)
        return f"```{'python' if path.suffix == '.py' else ''}\n{text}\n```"

    # -- links and roles ---------------------------------------------------------
    def _inline(self, text: str) -> str:
        text = _ROLE.sub(lambda match: match["text"], text)
        hidden = _SPAN.sub(lambda match: "\0" * len(match[0]), text)
        for match in reversed([*_TARGET.finditer(hidden)]):
            opening = _opening(hidden, match.start())
            shown = text[opening + 1 : match.start()]
            whole = self._link(shown, match[1], hidden[:opening].endswith("!"))
            first = opening - hidden[:opening].endswith("!")
            text = text[:first] + whole + text[match.end() :]
            hidden = hidden[:first] + "\0" * len(whole) + hidden[match.end() :]
        return text

    def _link(self, shown: str, target: str, image: bool) -> str:
        if re.match(r"[a-z]+:", target) or (self.keeps and not image):
            return f"{'!' * image}[{shown}]({target})"
        if image or not self.address:
            return "" if image else shown
        page = re.sub(r"\.md(?=#|$)", ".html", target)
        return f"[{shown}]({urljoin(self.address, page)})"


_BOX = "admonition"


def _terms(body: list[str]) -> list[str]:
    """The lines of a glossary: its terms in bold, and below each what it means."""
    found = []
    for line in body:
        term = line and not line[0].isspace()
        found += ["", f"**{line}**", ""] if term else [line.strip()]
    return found


def _closes(lines: list[str], at: int, marks: str) -> int:
    """The line that closes the fence which line `at` opens with `marks`."""
    fence = re.compile(rf"\s*{re.escape(marks[0])}{{{len(marks)},}}\s*")
    return next((k for k in range(at + 1, len(lines)) if fence.fullmatch(lines[k])), at)


def _opening(text: str, end: int) -> int:
    """Where the bracket opens that closes at `end`."""
    depth = 0
    for at in range(end, -1, -1):
        depth += (text[at] == "]") - (text[at] == "[")
        if not depth:
            return at
    return end


def _object(source: str, name: str) -> str:
    """The text of a function or a class of the top level of `source`."""
    for node in ast.parse(source).body:
        if getattr(node, "name", None) == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            return "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    return ""
