"""Rules for pages of the first edition; they go with the last of these pages."""

from __future__ import annotations

import ast

from book.pages import Page
from tests.house import (
    asserts,
    at,
    called,
    words,
)

SECTIONS = (
    *("See it", "Say it", "Run it", "Guess first", "Look inside", "Break it"),
    *("Your turn", "Which map do I want?", "Keep"),
)
WORDS = (150, 600)
MOST_WORDS = {"index": 700, "patterns": 1000}
CELL, SETUP, LISTING = 10, 14, 15  # lines of code at most
INSTRUMENT = 40  # and of the listing of one


def comparisons_are_asserted(page: Page) -> list[str]:
    """A cell that compares asserts; a page that runs asserts something."""
    found = []
    for cell in page.cells:
        tree = ast.parse(cell.source)
        given = {
            node.targets[0].id: node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        held = [n for n in ast.walk(tree) if isinstance(n, ast.Assert)]
        asserted = {n.id for h in held for n in ast.walk(h) if isinstance(n, ast.Name)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Expr):
                continue
            name = node.value.id if isinstance(node.value, ast.Name) else None
            value = given.get(name) if name not in asserted else None
            if _compares(node.value) or (value is not None and _compares(value)):
                what = f"`{ast.unparse(node)}` is shown, not asserted"
                found.append(at(page, cell.line + node.lineno - 1, what))
    if page.cells and not any(map(asserts, page.cells)):
        found.append(at(page, page.cells[0].line, "the page asserts nothing"))
    return found


def _compares(node: ast.expr) -> bool:
    """Whether the value of `node` is the outcome of a comparison, or shows one."""
    match node:
        case ast.Compare():
            return True
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(map(_compares, parts))
        case ast.Dict(values=parts) | ast.JoinedStr(values=parts):
            return any(map(_compares, parts))
        case ast.UnaryOp(operand=part) | ast.FormattedValue(value=part):
            return _compares(part)
        case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part):
            return _compares(part)
        case ast.DictComp(value=part):
            return _compares(part)
        case ast.Call(func=func, args=parts):
            name = called(node)
            if name in {"allclose", "array_equal", "array_equiv", "isclose"}:
                return True
            if name in {"print", "display", "bool", "all", "any"} and parts:
                return any(map(_compares, parts))
            owner = func.value if isinstance(func, ast.Attribute) else None
            return name in {"all", "any", "item"} and owner and _compares(owner)
    return False


def lengths(page: Page) -> list[str]:
    """Pages, cells and listings are short."""
    if not page.cells:
        return []
    found = []
    least, most = WORDS
    most = MOST_WORDS.get(page.name.split("/")[0], most)
    if not least <= (count := words(page)) <= most:
        what = f"the page has {count} words of prose, not {least} to {most}"
        found.append(at(page, 1, what))
    for cell in page.cells:
        limit = SETUP if "hide-input" in cell.tags else CELL
        count = sum(bool(line.strip()) for line in cell.source.splitlines())
        if count > limit:
            what = f"a cell has {count} lines of code; {limit} is the most"
            found.append(at(page, cell.line, what))
    for listing in page.listings:
        if listing.path.suffix == ".py":
            found += _listing(page, listing)
    return found


def _listing(page: Page, listing) -> list[str]:
    where = listing.path.name
    if not listing.path.is_file():
        return [at(page, listing.line, f"there is no {where} to list")]
    text = listing.path.read_text(encoding="utf-8")
    count, what = len(text.splitlines()), where
    if listing.pyobject:
        body, node = ast.parse(text).body, None
        for part in listing.pyobject.split("."):
            node = next((n for n in body if getattr(n, "name", None) == part), None)
            if node is None:
                return [at(page, listing.line, f"{where} has no `{listing.pyobject}`")]
            body = node.body
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        count, what = node.end_lineno - first + 1, f"`{listing.pyobject}`"
    most = INSTRUMENT if listing.path.parent.name == "tools" else LISTING
    if count <= most:
        return []
    line = f"the listing of {what} has {count} lines; {most} is the most"
    return [at(page, listing.line, line)]


def sections(page: Page) -> list[str]:
    """A page has one title, and the sections of the house in their order.

    Inside a section, headings of the third level divide a page one looks things up in.
    """
    found, seen = [], -1
    heads = [(h.line, h.level, h.text) for h in page.headings]
    titles = [(line, text) for line, level, text in heads if level == 1]
    if len(titles) != 1:
        found.append(at(page, 1, f"the page has {len(titles)} titles, not one"))
    for line, text in titles:
        if text.endswith("?"):
            found.append(at(page, line, "the title is a question, not a task"))
    if not page.cells:
        return found
    allowed = [s for s in SECTIONS if page.name == "index" or not s.endswith("?")]
    for line, level, text in heads:
        if level == 1 or (level == 3 and seen >= 0):
            continue
        if level > 2 or text not in allowed:
            what = f"{text!r} is no section; there are {', '.join(allowed)}"
            found.append(at(page, line, what))
        elif allowed.index(text) <= seen:
            what = f"{text!r} comes after {allowed[seen]!r}, not before it"
            found.append(at(page, line, what))
        else:
            seen = allowed.index(text)
    if "Keep" not in [text for _, _, text in heads]:
        last = len(page.text.splitlines())
        found.append(at(page, last, "there is no section 'Keep'"))
    fences = [fence.info for fence in page.fences]
    if "{admonition} In one breath" not in fences:
        found.append(at(page, titles[0][0] if titles else 1, "no 'In one breath'"))
    return found


RULES = (comparisons_are_asserted, lengths, sections)
