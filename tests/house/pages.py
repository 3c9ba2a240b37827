"""Rules for every page: its title in the sidebar, words for its pictures, no TODO."""

from __future__ import annotations

import ast
import re

from book.source.model import Page
from tests.house.book import at, called, calls

SHORT = 26  # characters that fit on a line of the sidebar
PAINTERS = ("book.draw",)  # what is imported from it needs alt


def it_has_a_short_title(page: Page) -> list[str]:
    """The sidebar has a name for it."""
    if page.short:
        return []
    return [at(page, 1, "no `short` in its front matter for the sidebar")]


def its_short_title_fits(page: Page) -> list[str]:
    """The sidebar says two to four words on one line."""
    if not page.short or len(page.short) <= SHORT:
        return []
    what = f"`short: {page.short}` has {len(page.short)} characters"
    return [at(page, 1, f"{what}; {SHORT} fit on a line")]


def pictures_have_words(page: Page) -> list[str]:
    """Every figure says in a sentence what is seen."""
    found = []
    figures = {
        alias.asname or alias.name
        for cell in page.cells
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.ImportFrom) and node.module in PAINTERS
        for alias in node.names
        if alias.name not in ("chooser", "console", "ledger")  # these are text
    }
    for cell in page.cells:
        for call in calls(cell.source):
            if not isinstance(call.func, ast.Name) or call.func.id not in figures:
                continue
            alt = next((k.value for k in call.keywords if k.arg == "alt"), None)
            blank = isinstance(alt, ast.Constant) and not str(alt.value or "").strip()
            if alt is None or blank:
                what = f"`{called(call)}(...)` has no alt"
                found.append(at(page, cell.line + call.lineno - 1, what))
    for line, text in page.prose:
        if re.search(r"!\[\s*\]\(", text):
            found.append(at(page, line, "an image has no alternative text"))
    for fence in page.fences:
        if fence.name in ("image", "figure") and not fence.options.get("alt"):
            found.append(at(page, fence.line, "an image has no :alt:"))
    return found


def page_is_written(page: Page) -> list[str]:
    """Nothing is left to be written."""
    lines = enumerate(page.text.splitlines(), 1)
    return [at(page, n, "a TODO is left") for n, line in lines if "TODO" in line]
