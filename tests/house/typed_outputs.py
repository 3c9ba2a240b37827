"""No output is typed by hand, on pages or in programs: what readers see was put out."""

from __future__ import annotations

import re

from book.source.model import Page
from tests.house.book import Program, at, comments, docstrings

TYPED = re.compile(r"#\s*(?:prints?\b|outputs?:|>>>|->|=>|→|⇒)", re.IGNORECASE)
PASTED = re.compile(r"\b(?:Sharded)?DeviceArray\(|(?<![.\w])[Aa]rray\(\[")
TYPED_FENCES = {"", "python", "python3", "py", "pycon", "ipython", "text", "none"}


def no_typed_outputs(page: Page) -> list[str]:
    """What a reader sees as output was put out by the code above it."""
    found = []
    for fence in page.fences:
        if (info := fence.info.lower()) in TYPED_FENCES:
            what = f"a fence of {info or 'plain text'} is never run"
            found.append(at(page, fence.line, f"{what}; make it a cell or a listing"))
    for line, text in page.prose:
        if PASTED.search(text) or text.startswith(">>> "):
            found.append(at(page, line, "an output is typed into the text"))
    for cell in page.cells:
        for line, text in comments(cell.source, cell.line):
            if TYPED.search(text) or PASTED.search(text):
                found.append(at(page, line, f"an output is typed: {text}"))
    return found


def outputs_are_doctests(program: Program) -> list[str]:
    """An output in a program is a doctest, which is run."""
    found = [
        at(program, line, f"an output is typed: {text}")
        for line, text in comments(program.text)
        if TYPED.search(text) or PASTED.search(text)
    ]
    for line, text in docstrings(program):
        in_doctest = False
        for number, one in enumerate(text.splitlines(), line):
            in_doctest = bool(one.strip()) and (in_doctest or ">>> " in one)
            if not in_doctest and PASTED.search(one):
                found.append(at(program, number, "an output is typed, not a doctest"))
    return found
