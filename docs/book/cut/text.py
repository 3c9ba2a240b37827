"""How a program is set: as a careful person would have formatted it."""

from __future__ import annotations

import ast
import builtins
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

WIDTH = 88
_DEFINITIONS = ("def ", "class ", "@", "async def ")


@dataclass(frozen=True)
class Part:
    """Some lines of a program, and how many empty ones stood above them."""

    text: str
    gap: int = 0

    @property
    def defines(self) -> bool:
        """Whether it is a function or a class, below its comments."""
        lines = (line for line in self.text.splitlines() if line.strip())
        code = next((line for line in lines if not line.startswith("#")), "")
        return code.startswith(_DEFINITIONS)


@dataclass(frozen=True)
class Imported:
    """One name that a program imports."""

    module: str
    name: str | None  # None for `import module`
    alias: str | None

    @property
    def bound(self) -> str:
        """The name that the program knows it by."""
        return self.alias or self.name or self.module.split(".")[0]

    @property
    def means(self) -> str:
        """What that name stands for: the same, however it is imported."""
        if self.name:
            return f"{self.module}.{self.name}"
        return self.module if self.alias else self.bound


def joined(blocks: Iterable[list[Part]]) -> str:
    """Blocks one empty line apart, definitions two."""
    text, above = "", None
    for block in blocks:
        for number, part in enumerate(block):
            if above:
                apart = above.defines or part.defines
                blank = 2 if apart else min(1, part.gap if number else 1)
                text += "\n" * (1 + blank)
            text += part.text
            above = part
    return text + "\n"


def imports(found: Iterable[Imported]) -> list[Part]:
    """Import statements, merged, sorted and grouped."""
    plain, froms = set(), {}
    for one in found:
        renamed = f" as {one.alias}" if one.alias else ""
        if one.name is None:
            plain.add((one.module, f"import {one.module}{renamed}"))
        else:
            froms.setdefault(one.module, set()).add(f"{one.name}{renamed}")
    lines = [*sorted(plain), *((m, _from(m, froms[m])) for m in sorted(froms))]
    groups: list[list[str]] = [[], [], []]
    for module, text in lines:
        top = module.split(".")[0]
        which = 1 if top in sys.stdlib_module_names else 2
        groups[0 if top == "__future__" else which].append(text)
    return [Part("\n".join(group), 1) for group in groups if group]


def _from(module: str, names: set[str]) -> str:
    def order(name: str) -> tuple[int, str]:  # CONSTANTS, Classes, functions
        first = name.split()[0]
        return (
            0 if len(first) > 1 and first.isupper() else 1 + first[0].islower(),
            name,
        )

    ordered = sorted(names, key=order)
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n    " + ",\n    ".join(ordered) + ",\n)"


def printed(code: str, node: ast.expr) -> str:
    """Show a value: Python does so for the last one of a notebook's cell only."""
    line = f"print({code})"
    if "\n" not in code and len(line) <= WIDTH:
        return line
    return f"print(\n{indented(code, node)}\n)"


def expected(code: str, node: ast.stmt, raises: str) -> str:
    """Run `code`, which raises "Type: piece of the message"."""
    kind, _, piece = (part.strip() for part in raises.partition(":"))
    known = isinstance(getattr(builtins, kind, None), type)
    lines = ["try:", indented(code, node)]
    lines.append(f"except {kind if known else 'Exception'} as error:")
    if not known:
        lines.append(f'    assert type(error).__name__ == "{kind}", error')
    if piece:
        lines.append(f"    expected = {_quoted(piece)}")
        lines.append("    assert expected in str(error), error")
    lines.append(f'    print("{kind}:", str(error).strip().partition("\\n")[0])')
    lines.append("else:")
    lines.append(f'    raise AssertionError("this was meant to raise {kind}")')
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """`repr` with double quotes where it has the choice."""
    return repr(text) if '"' in text else '"' + repr("'" + text)[2:]


def indented(code: str, node: ast.AST) -> str:
    """`code` one level deeper, its strings unchanged."""
    strings = (ast.Constant, ast.JoinedStr)
    found = [n for n in ast.walk(node) if isinstance(n, strings)]
    if any(n.lineno != n.end_lineno for n in found):
        code = ast.unparse(node)
    return textwrap.indent(code, "    ")


def body(
    source: str, nodes: list[ast.stmt], replaced: dict[ast.stmt, str]
) -> list[Part]:
    """The statements of a cell as they stand, some `replaced`, or left out by ""."""
    lines, parts, above = source.split("\n"), [], 0
    head: list[str] = []  # comments and empty lines
    for group in _sharing_lines(nodes):
        first, last = _first(group[0]), group[-1].end_lineno
        head += lines[above : first - 1]
        code, above = "\n".join(lines[first - 1 : last]), last
        if any(node in replaced for node in group):
            own = [ast.get_source_segment(source, node) for node in group]
            comment = code[code.rindex(own[-1]) + len(own[-1]) :].strip(" ;")
            pairs = zip(group, own, strict=True)
            code = "\n".join(filter(None, (replaced.get(*pair) for pair in pairs)))
            if comment and code and "\n" not in code:
                code += f"  {comment}"
        if code:
            parts += _part([*head, code])
            head = []
        while head and head[-1].startswith("#"):  # of what is left out
            head.pop()
    return parts + _part(head + lines[above:])


def _part(lines: list[str]) -> list[Part]:
    code = [number for number, line in enumerate(lines) if line.strip()]
    if not code:
        return []
    return [Part("\n".join(lines[code[0] : code[-1] + 1]), code[0])]


def _first(node: ast.stmt) -> int:
    return min(n.lineno for n in (node, *getattr(node, "decorator_list", ())))


def _sharing_lines(nodes: list[ast.stmt]) -> list[list[ast.stmt]]:
    groups: list[list[ast.stmt]] = []
    for node in nodes:
        if groups and _first(node) <= groups[-1][-1].end_lineno:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups
