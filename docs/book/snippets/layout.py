"""The layout of a program: empty lines, comments, and what its last part prints."""

from __future__ import annotations

import ast
import builtins
import io
import json
import textwrap
import tokenize
from collections.abc import Iterable
from itertools import pairwise

from book.snippets.vocabulary import DEFS


def joined(blocks: Iterable[str]) -> str:
    """Blocks of code, with two empty lines around definitions, else at most one."""
    lines = "\n\n".join(filter(None, blocks)).split("\n")
    text, at = "", 0
    above: ast.stmt | None = None
    for node in (*ast.parse("\n".join(lines)).body, None):
        end = last_line(node) if node else len(lines)
        start = at
        while start < end and not lines[start].strip():
            start += 1
        if start < end:  # else there is no comment below the last statement
            apart = isinstance(above, DEFS) or isinstance(node, DEFS)
            blank = 2 if apart else min(1, start - at)
            if text:
                text += "\n" * (1 + blank)
            text += "\n".join(lines[start:end])
        at, above = end, node
    return _two_spaces(_apart(text.rstrip() + "\n"))


def _two_spaces(text: str) -> str:
    """The code with comments two spaces behind it; a page aligns them."""
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT and (
            code := lines[row - 1][:column].rstrip()
        ):
            lines[row - 1] = f"{code}  {token.string}"
    return "\n".join(lines)


def _apart(text: str) -> str:
    """The code with an empty line around each definition inside another one."""
    lines, found = text.split("\n"), set()
    for node in ast.walk(ast.parse(text)):
        block = getattr(node, "body", None)
        if isinstance(node, ast.Module) or not isinstance(block, list):
            continue
        for above, one in pairwise(block):
            if isinstance(above, DEFS) or isinstance(one, DEFS):
                found.add(_with_comment(lines, one, last_line(above)))
    for start in sorted(found, reverse=True):
        if lines[start - 1].strip():
            lines.insert(start, "")
    return "\n".join(lines)


def _with_comment(lines: list[str], node: ast.stmt, above: int) -> int:
    """Where a statement begins, counted from 0, with the comment right above it.

    The statement before it ends on line `above`.
    """
    start = first_line(node) - 1
    while start > above and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return start


def printed(code: str, node: ast.Expr) -> str:
    """Show a value: Python does so for the last one of a notebook's cell only."""
    ends = code.rpartition("\n")[2].encode()[node.end_col_offset :].decode()
    value = code.removesuffix(ends)  # and a comment after it
    line = f"print({value})"
    if "\n" not in line:
        return line + ends
    return f"print(\n{indented(value, node)}\n){ends}"


def expected(code: str, node: ast.stmt, raises: str) -> str:
    """Run `code`, which raises "Type: piece of the message"."""
    kind, _, piece = (part.strip() for part in raises.partition(":"))
    known = isinstance(getattr(builtins, kind, None), type)
    lines = ["try:", indented(code, node)]
    lines.append(f"except {kind if known else 'Exception'} as raised:")
    if not known:
        lines.append(f'    assert type(raised).__name__ == "{kind}", raised')
    if piece:
        lines.append(f"    expected = {json.dumps(piece, ensure_ascii=False)}")
        lines.append("    assert expected in str(raised), raised")
    lines.append(f'    print("{kind}:", str(raised).strip().partition("\\n")[0])')
    lines.append("else:")
    lines.append(f'    raise AssertionError("this was meant to raise {kind}")')
    return "\n".join(lines)


def reported(code: str, node: ast.stmt) -> str:
    """Run `code`, an exercise's check, and print what it says where it fails."""
    lines = ["try:", indented(code, node), "except AssertionError as raised:"]
    return "\n".join([*lines, '    print("AssertionError:", raised)'])


def indented(code: str, node: ast.AST) -> str:
    """`code` one level deeper, its strings unchanged."""
    strings = (ast.Constant, ast.JoinedStr)
    found = [n for n in ast.walk(node) if isinstance(n, strings)]
    if any(n.lineno != n.end_lineno for n in found):
        code = ast.unparse(node)
    return textwrap.indent(code, "    ")


def body(source: str, own: Iterable, replaced: dict[ast.stmt, str]) -> str:
    """The statements of a cell as they stand, some `replaced`, or left out by ""."""
    lines, found, above = source.split("\n"), [], 0
    for node in dict.fromkeys(one.node for one in own):
        first, last = first_line(node), last_line(node)
        between = lines[above : first - 1]
        if node in replaced and not replaced[node]:
            while between and between[-1].startswith("#"):  # of what is left out
                between.pop()
        found += between
        if node not in replaced:
            found += lines[first - 1 : last]
        elif replaced[node]:
            found.append(replaced[node])
        above = last
    return "\n".join(found + lines[above:])


def first_line(node: ast.stmt) -> int:
    """The line on which a statement begins, its decorators among it."""
    return min(n.lineno for n in (node, *getattr(node, "decorator_list", ())))


def last_line(node: ast.stmt) -> int:
    """The line on which a statement ends."""
    return node.end_lineno or node.lineno
