"""Markdown as MyST reads it: what stands on which line of a page.

The tokens are MyST's own, so nothing is seen here that a reader would not see; the
text inside directives (an admonition, a folded part) is read as Markdown too.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.directives import parse_directive_text
from myst_parser.parsers.mdit import create_md_parser
from myst_parser.slugs import github_slugify, unique_slug

CELL = "code-cell"
# Directives whose content is no Markdown.
_VERBATIM = (*"code literal eval-rst math raw toctree chapter compiled".split(),)
_WITHIN = {
    "list_item_open": "a list",
    "blockquote_open": "a quotation",
    "footnote_reference_open": "a footnote",
    "dd_open": "a definition",
}
_ALMOST_A_CELL = re.compile(
    r"^\W*(`{3,}|~{3,}|:{3,})\s*\{\s*code[-_ ]cell", re.I | re.M
)


class _AnyDirective:
    """Tells MyST's parser of options that every option is welcome."""

    required_arguments, optional_arguments = 0, 1
    final_argument_whitespace = has_content = True
    option_spec = {"any": str}  # noqa: RUF012 - MyST asks for a dictionary


@dataclass(frozen=True)
class Fence:
    """A directive (`name`, `argument`, `options`) or a block of code (no `name`)."""

    line: int
    last: int
    info: str
    name: str
    argument: str
    options: dict = field(repr=False)
    body: tuple[str, ...] = field(repr=False)
    first: int  # the line on which the body begins
    bad: str | None = None  # what is wrong with the options


@dataclass(frozen=True)
class Heading:
    """A heading; `slug` is its address on the page."""

    line: int
    level: int
    text: str
    slug: str


@dataclass
class Document:
    """What stands on a page; `lost` are cells that would not run: line, sentence."""

    front: str | None = None
    ends: int = 0  # the last line of the front matter
    fences: list[Fence] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    prose: list[tuple[int, str]] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    lost: list[tuple[int, str]] = field(default_factory=list)

    @property
    def anchors(self) -> set[str]:
        """The addresses on the page that a link can lead to."""
        return {heading.slug for heading in self.headings} | set(self.targets)


@cache
def _parser(inline: bool) -> MarkdownIt:
    config = MdParserConfig(enable_extensions={"colon_fence"})
    if not inline:
        config = dataclasses.replace(config, disable_syntax=["inline"])
    return create_md_parser(config, RendererHTML)


def parse(text: str, path: Path) -> Document:
    """Read `text`, which stands in the file `path`."""
    found = Document()
    _walk(found, text, 0, None, path)
    found.lost.sort()
    return found


def _walk(found: Document, text: str, above: int, inside: str | None, path: Path):
    """Add to `found` what is in `text`, which begins after line `above`."""
    lines = text.splitlines()
    stack: list[str] = []
    heading: Token | None = None
    for token in _parser(inline=False).parse(text + "\n"):
        line = above + (token.map[0] if token.map else 0) + 1
        if token.nesting > 0:
            stack.append(token.type)
            heading = token if token.type == "heading_open" else heading
        elif token.nesting < 0:
            stack.pop()
            heading = None if token.type == "heading_close" else heading
        elif token.type in ("fence", "colon_fence"):
            within = next((_WITHIN[x] for x in stack[::-1] if x in _WITHIN), inside)
            _fence(found, token, above, within, path)
        elif token.type == "inline" and heading:
            _heading(found, token.content, line, int(heading.tag[1]))
        elif token.type == "front_matter":
            found.front, found.ends = token.content, token.map[1]
        elif token.type == "myst_target":
            found.targets.append(token.content)
        elif token.type in ("html_block", "myst_line_comment"):
            _raw(found, token, line)
        if (token.type == "inline" and not heading) or _is_text(token):
            new = enumerate(lines[slice(*token.map)], line)
            known = found.prose[-1][0] if found.prose else 0  # cells share a row's line
            found.prose += [(n, one) for n, one in new if n > known]


def _is_text(token: Token) -> bool:
    return token.type == "html_block" and not token.content.startswith("<!--")


def _heading(found: Document, text: str, line: int, level: int) -> None:
    inline = _parser(inline=True).parseInline(text)[0].children or []
    plain = "".join(t.content for t in inline if t.type in ("text", "code_inline"))
    taken = {heading.slug for heading in found.headings}
    slug = unique_slug(github_slugify(plain), taken)
    found.headings.append(Heading(line, level, text, slug))


def _raw(found: Document, token: Token, line: int) -> None:
    for match in _ALMOST_A_CELL.finditer(token.content):
        where = "a comment" if not _is_text(token) else "HTML"
        at = line + token.content.count("\n", 0, match.start(1))
        found.lost.append((at, f"a code cell in {where} would not run"))


def _fence(found, token: Token, above: int, inside: str | None, path: Path) -> None:
    fence = _read_fence(token, above)
    found.fences.append(fence)
    line, name = fence.line, fence.name
    if re.sub(r"[\s_]", "-", name.strip().lower()) == CELL:
        if inside:
            why = f"a code cell inside {inside} would not run; show a tested listing "
            found.lost.append((line, f"{why}there with literalinclude"))
        elif name != CELL or token.type != "fence" or token.info != fence.info:
            why = "a code cell that is not written ```{code-cell} would not run"
            found.lost.append((line, why))
    elif name == "include":
        found.lost += _included(line, path.parent / fence.argument)
    elif name == "eval-rst":
        for number, one in enumerate(fence.body, fence.first):
            if match := re.match(r"\s*\.\. +(code-cell|literalinclude)::", one):
                why = (
                    f"`{match[1]}` in {{eval-rst}} would be lost; write it in Markdown"
                )
                found.lost.append((number, why))
    elif name and not name.startswith(_VERBATIM):
        _walk(found, "\n".join(fence.body), fence.first - 1, f"{{{name}}}", path)


def _read_fence(token: Token, above: int) -> Fence:
    line, last = above + token.map[0] + 1, above + token.map[1]
    info, text = token.info.strip(), token.content
    match = re.match(r"\{([^}]*)\}\s*(.*)", info)
    name, argument = match.groups() if match else ("", "")
    options, body, first, bad = {}, text.splitlines(), line + 1, None
    if name and re.match(r"\s*(:|---)", text):
        read = parse_directive_text(_AnyDirective, "", text, validate_options=False)
        options, body, first = read.options, read.body, first + read.body_offset
        bad = read.warnings[0].msg if read.warnings else None
    while name and body and not body[0].strip():
        body, first = body[1:], first + 1
    return Fence(line, last, info, name, argument, options, tuple(body), first, bad)


def _included(line: int, path: Path) -> list[tuple[int, str]]:
    """A file that is included may have prose, but nothing that a page counts."""
    if not path.is_file():
        return []  # Sphinx reports it
    inner = parse(path.read_text(encoding="utf-8", errors="replace"), path)
    names = {fence.name for fence in inner.fences}
    if not (inner.lost or names & {CELL, "literalinclude"}):
        return []
    return [(line, f"a code cell or listing in an included file ({path.name}) is lost")]
