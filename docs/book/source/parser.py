"""Reads a page: its Markdown, as MyST parses it, becomes a `Page`.

The tokens are those of MyST's own parser, so a cell is seen here where a reader would
see one; the text inside directives (an admonition, a folded part) is parsed as well.

The modules of MyST-Parser have no documented interface; it is used so that nothing is
parsed in another way than on the site, and tests/source fails where it has changed.

MyST-NB publishes a page without its outputs when the front matter is broken, and drops
a code cell that sits inside another directive.  Both are a `Problem` here, with a line.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from docutils.parsers.rst import Directive
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.directives import parse_directive_text
from myst_parser.parsers.mdit import create_md_parser
from myst_parser.slugs import github_slugify, unique_slug

from book.source import front_matter
from book.source.kept_results import kept
from book.source.model import Cell, Fence, Heading, Listing, Page
from book.state import Problem

CELL = "code-cell"
FLAGS = ("check", "fresh", "alone", "varies")  # options of a cell that take no value
DISPLAY_TAGS = frozenset(
    f"{verb}-{what}"
    for verb in ("hide", "remove")
    for what in ("input", "output", "cell")
)
_NO_MATH = (
    "mathematics would be set by a program from another host, and pages ask none; "
    "write it as code, or in Unicode"
)
NOT_UTF_8 = "is not UTF-8; save it as UTF-8"
_NUL = "has a NUL (a character of value 0), which would run as another; remove it"
# Directives whose content is no Markdown.
_VERBATIM = (*"code literal raw toctree chapter compiled".split(),)
_WITHIN = {
    "list_item_open": "a list",
    "blockquote_open": "a quotation",
    "footnote_reference_open": "a footnote",
    "dd_open": "a definition",
}
# Where Markdown has no fences; HTML may be no comment.
_UNPARSED = {
    "html_block": "a comment",
    "myst_line_comment": "a comment",
    "code_block": "a text indented by four",
}
_ALMOST_A_CELL = re.compile(
    r"^\W*(`{3,}|~{3,}|:{3,})\s*\{\s*code[-_ ]cell", re.I | re.M
)
_ERROR = re.compile(r"[A-Za-z_][\w.]*\s*(:|$)")
_BY_LINES = {"lines", "lineno-match", "start-at", "end-at"}


def read(path: Path, name: str) -> Page:
    """Read the page called `name` from `path`; raises `Problem`."""
    text = _text(path, name)
    if "{include}" in text:  # whose files may have changed
        return _page(path, name, text)
    return _known_page(path, name, text)


def _page(path: Path, name: str, text: str) -> Page:
    """The page called `name` at `path`, which has `text`; raises `Problem`."""
    lines = text.splitlines()
    found = _Markdown(path)
    found.add(text)
    if found.front is None and text.startswith("---"):
        raise Problem(name, "its front matter has no end: a line of `---`", 1)
    front = front_matter.FrontMatter(name, found.front or "")
    if found.lost:
        line, why = min(found.lost)
        raise Problem(name, why, line)
    if not any(line.strip() for line in lines[found.ends :]):
        raise Problem(name, "is empty", 1)
    titles = [heading.line for heading in found.headings if heading.level == 1]
    if len(titles) > 1:
        why = "a second title, a heading with one `#`, takes the page's own out of the "
        raise Problem(name, f"{why}table of contents; give it two", titles[1])
    fences = [fence for fence in found.fences if fence.name == CELL]
    cells = tuple(_cell(name, n, fence, lines) for n, fence in enumerate(fences, 1))
    settings = front.settings(bool(cells))
    if cells and not any(cell.check for cell in cells):
        raise Problem(name, "has no check; `:check:` makes a cell one", cells[-1].line)
    return Page(
        name,
        path,
        text,
        **settings,
        answers=front.answers(found.anchors),
        cells=cells,
        listings=tuple(_listings(name, path, found.fences)),
        fences=tuple(found.fences),
        headings=tuple(found.headings),
        prose=tuple(found.prose),
        front=front.found,
        ends=found.ends,
    )


_known_page = kept(_page)


def _text(path: Path, name: str) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise Problem(name, NOT_UTF_8, line) from None
    if "\0" in text:
        line = text.partition("\0")[0].count("\n") + 1
        raise Problem(name, _NUL, line)
    return text


def _cell(name: str, number: int, fence: Fence, lines: list[str]) -> Cell:
    """The cell of a fence of the page `name`, which has `lines`; raises `Problem`."""
    wrong = _wrong_option(fence)
    if wrong:
        option, why = wrong
        line = _line_of_option(option, fence, lines) if option else fence.line
        raise Problem(name, why, line, number)
    options = fence.options
    return Cell(
        number,
        fence.first,
        "\n".join(fence.body),
        frozenset(options.get("tags", ())),
        options.get("raises"),
        **{flag: options.get(flag, False) is not False for flag in FLAGS},
        mystnb=options.get("mystnb", {}),
        span=(fence.line, fence.last),
    )


def _line_of_option(option: str, fence: Fence, lines: list[str]) -> int:
    starts = (f":{option}:", f"{option}:")
    for line in range(fence.line + 1, fence.first):
        if lines[line - 1].strip().startswith(starts):
            return line
    return fence.line


def _wrong_option(fence: Fence) -> tuple[str, str] | None:
    """Which option of a cell is wrong, and why; None if all are right."""
    if fence.bad:
        return "", "its options are not YAML; quote a value with a colon in it"
    options, tags = fence.options, fence.options.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return "tags", "its `tags` are a list, as in `:tags: [hide-input]`"
    known = {*FLAGS, "raises", "mystnb", "tags"}
    for unknown in [*sorted(set(options) - known), *sorted(set(tags) - DISPLAY_TAGS)]:
        why = f"does not know {unknown}; a cell takes {', '.join(FLAGS)}, raises, "
        why += f"mystnb, and the tags {', '.join(sorted(DISPLAY_TAGS))}"
        return (unknown if unknown in options else "tags"), why
    raises = options.get("raises", "Error")
    if not isinstance(raises, str) or not _ERROR.match(raises):
        why = 'its `raises` is a text like "ValueError: a part of the message"'
        return "raises", why
    if not isinstance(options.get("mystnb", {}), dict):
        return "mystnb", 'its `mystnb` is like {code_prompt_show: "All"}'
    for flag in FLAGS:
        if options.get(flag) not in (None, True, False):
            return flag, f"its `{flag}` takes no value"
    return None


def _listings(name: str, path: Path, fences: list[Fence]) -> Iterator[Listing]:
    """The listings among the fences of the page `name`; raises `Problem`."""
    shown = [fence for fence in fences if fence.name == "literalinclude"]
    for number, fence in enumerate(shown, 1):
        if _BY_LINES & set(fence.options):
            raise Problem(name, "a listing is named, never cut by lines", fence.line)
        file = (path.parent / fence.argument).resolve()
        yield Listing(number, fence.line, file, fence.options.get("pyobject"))


class _AnyDirective(Directive):
    """Stands for every directive as its options are parsed, which may be any."""

    optional_arguments = 1
    final_argument_whitespace = has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"any": str}  # MyST wants one at least


@cache
def _parser(inline: bool) -> MarkdownIt:
    config = MdParserConfig(enable_extensions={"colon_fence"})
    if not inline:
        config = dataclasses.replace(config, disable_syntax=["inline"])
    return create_md_parser(config, RendererHTML)


@dataclass
class _Markdown:
    """What stands in a file of Markdown, collected from the tokens of its parser.

    `lost` is what readers would not see as it is meant, such as cells that would not
    run: the line, and a sentence that says why.
    """

    path: Path
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

    def add(self, text: str, above: int = 0, inside: str | None = None) -> None:
        """Add what is in `text`, which begins after line `above`, `inside` another."""
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
                outer = [_WITHIN[one] for one in stack if one in _WITHIN]
                self._add_fence(token, above, outer[-1] if outer else inside)
            elif token.type == "inline" and heading:
                self._add_heading(token.content, line, int(heading.tag[1]))
            elif token.type == "front_matter" and token.map:
                self.front, self.ends = token.content, token.map[1]
            elif token.type == "myst_target":
                self.targets.append(token.content)
            elif token.type in _UNPARSED:
                self._find_lost_cells(token, line)
            if token.type == "inline" and _has_math(token):
                above_it = token.content.partition("{math}")[0]
                self.lost.append((line + above_it.count("\n"), _NO_MATH))
            if (token.type == "inline" and not heading) or _is_html(token):
                self._add_prose(lines[slice(*(token.map or (0, 0)))], line)

    def _add_prose(self, lines: list[str], line: int) -> None:
        """Add lines of text, but for one that was added: a row's cells share it."""
        known = self.prose[-1][0] if self.prose else 0
        self.prose += [(n, one) for n, one in enumerate(lines, line) if n > known]

    def _add_heading(self, text: str, line: int, level: int) -> None:
        inline = _parser(inline=True).parseInline(text)[0].children or []
        plain = "".join(t.content for t in inline if t.type in ("text", "code_inline"))
        taken = {heading.slug for heading in self.headings}
        slug = unique_slug(github_slugify(plain), taken)
        self.headings.append(Heading(line, level, text, slug))

    def _find_lost_cells(self, token: Token, line: int) -> None:
        where = "HTML" if _is_html(token) else _UNPARSED[token.type]
        for match in _ALMOST_A_CELL.finditer(token.content):
            at = line + token.content.count("\n", 0, match.start(1))
            self.lost.append((at, f"a code cell in {where} would not run"))

    def _add_fence(self, token: Token, above: int, inside: str | None) -> None:
        fence = _read_fence(token, above)
        self.fences.append(fence)
        line, name = fence.line, fence.name
        if re.sub(r"[\s_]", "-", name.strip().lower()) == CELL:
            if inside:
                why = f"a code cell inside {inside} would not run; show a tested "
                why += "listing there with literalinclude"
                self.lost.append((line, why))
            elif name != CELL or token.type != "fence" or token.info != fence.info:
                why = "a code cell that is not written ```{code-cell} would not run"
                self.lost.append((line, why))
        elif name == "include":
            self._check_included(line, self.path.parent / fence.argument)
        elif name == "math":
            self.lost.append((line, _NO_MATH))
        elif name == "eval-rst":
            why = "cells and listings in {eval-rst} would be lost; write it in Markdown"
            self.lost.append((line, why))
        elif name and not name.startswith(_VERBATIM):
            self.add("\n".join(fence.body), fence.first - 1, f"{{{name}}}")

    def _check_included(self, line: int, path: Path) -> None:
        """A file that is included may have prose, but nothing that a page counts."""
        if not path.is_file():
            return  # Sphinx reports it
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            self.lost.append((line, f"{path.name}, which it includes, {NOT_UTF_8}"))
            return
        inner = _Markdown(path)
        inner.add(text)
        names = {fence.name for fence in inner.fences}
        reasons = {why for _, why in inner.lost}
        if _NO_MATH in reasons:
            self.lost.append((line, f"{path.name}: {_NO_MATH}"))
        if reasons - {_NO_MATH} or names & {CELL, "literalinclude"}:
            why = "a code cell or listing in an included file "
            self.lost.append((line, f"{why}({path.name}) is lost"))


def _has_math(token: Token) -> bool:
    """Whether there is a role `{math}` in the text of `token`."""
    if "{math}" not in token.content:
        return False
    inline = _parser(inline=True).parseInline(token.content)[0].children or []
    return any(t.type == "myst_role" and t.meta.get("name") == "math" for t in inline)


def _is_html(token: Token) -> bool:
    return token.type == "html_block" and not token.content.startswith("<!--")


def _read_fence(token: Token, above: int) -> Fence:
    start, end = token.map or (0, 0)
    line, last = above + start + 1, above + end
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
