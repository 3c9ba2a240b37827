"""Rules for pages that teach, whose front matter names a `kind`: how one is built."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from itertools import pairwise

from book.source.model import Cell, Page
from tests.house.book import at, called, calls, visible_cells

QUESTIONS = 2  # or more that a page answers
FORMULAS = frozenset(
    "see it|say it|run it|guess first|look inside|break it|your turn|keep|overview"
    "|introduction|example|examples|notes|summary|conclusion|in short|exercise|setup"
    "|background|details|motivation|further reading".split("|")
)
EIGHT = 'jax.config.update("jax_num_cpu_devices", 8)'
JAX = re.compile(r"^(import|from) (jax|flax|optax|orbax|equinox)\b", re.MULTILINE)
LIBRARIES = frozenset(
    ("jax", "numpy", "scipy", "flax", "equinox", "optax", "orbax", "grain")
)


def it_has_one_title(page: Page) -> list[str]:
    """A page has one title."""
    count = sum(heading.level == 1 for heading in page.headings)
    if count == 1:
        return []
    return [at(page, 1, f"the page has {count} titles, not one")]


def it_begins_with_the_answer(page: Page) -> list[str]:
    """Below the title stands prose without a label."""
    start = next((heading.line for heading in page.headings if heading.level == 1), 1)
    first_words = min((n for n, _ in page.prose if n > start), default=sys.maxsize)
    first_fence = min((f.line for f in page.fences if f.line > start), default=start)
    if start < first_fence < first_words:
        what = "the page does not begin with its answer"
        return [at(page, first_fence, what)]
    return []


def its_first_code_is_in_view(page: Page) -> list[str]:
    """The first code of a page is not folded."""
    shown = visible_cells(page)
    if shown and "hide-input" in shown[0].tags:
        return [at(page, shown[0].line, "the first code is folded away")]
    return []


def it_sets_eight_devices(page: Page) -> list[str]:
    """The first code that imports JAX on a page for eight devices asks for them."""
    if page.kernel != "mesh-of-eight":
        return []
    for cell in visible_cells(page):
        if cell.fresh:
            continue
        if EIGHT in cell.source:
            return []
        if JAX.search(cell.source):
            what = f"the first code that imports JAX does not ask for devices: {EIGHT}"
            return [at(page, cell.line, what)]
    return []


def it_ends_with_a_card(page: Page) -> list[str]:
    """The last box is *In short*, two to four lines."""
    for fence in page.fences:
        if fence.name == "admonition" and fence.argument == "In short":
            count = sum(line.startswith("- ") for line in fence.body)
            if 2 <= count <= 4:
                return []
            what = f"'In short' has {count} lines that begin with a dash, not 2 to 4"
            return [at(page, fence.line, what)]
    last = len(page.text.splitlines())
    return [at(page, last, "there is no box 'In short'")]


def checks_prove(page: Page) -> list[str]:
    """Every check asserts something, and a page that runs has a check."""
    found = []
    if page.cells and not any(map(asserts, page.cells)):
        found.append(at(page, page.cells[0].line, "the page asserts nothing"))
    for cell in page.cells:
        if cell.check and not (cell.raises or asserts(cell)):
            found.append(at(page, cell.line, "a check that asserts nothing"))
    return found


def asserts(cell: Cell) -> bool:
    """Whether a cell asserts something, by itself or by a library."""
    tree = ast.parse(cell.source)
    return any(isinstance(n, ast.Assert) for n in ast.walk(tree)) or any(
        called(call).startswith("assert_") for call in calls(cell.source)
    )


def names_are_in_view(page: Page) -> list[str]:
    """Lessons import from Python, JAX, NumPy, known libraries and instruments only.

    And from a program that the page lists whole: its reader has seen it.
    """
    whole = [one.path.with_suffix("") for one in page.listings if not one.pyobject]
    listed = [f".{'.'.join(path.parts)}" for path in whole]
    found = []
    for cell in visible_cells(page):
        for line, module in _imported(ast.parse(cell.source)):
            top = module.split(".")[0]
            ours = module.startswith(("examples.tools", "examples.exercises"))
            known = top in LIBRARIES or top in sys.stdlib_module_names
            seen = any(one.endswith(f".{module}") for one in listed)
            if not (known or ours or seen):
                what = f"a lesson imports from {module}, which no reader has seen"
                found.append(at(page, cell.line + line - 1, what))
    return found


def _imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        yield from imported_by(node)


def imported_by(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and module of each import that a node of a tree is."""
    if isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.lineno, node.module or "."


def specs_are_written_out(page: Page) -> list[str]:
    """`in_specs=` and `out_specs=` are the lesson: never `**specs`."""
    found = []
    for cell in visible_cells(page):
        for call in calls(cell.source):
            maps = called(call) in {"shard_map", "pmap", "vmap", "jit", "smap"}
            line = cell.line + call.lineno - 1
            if maps and any(k.arg is None for k in call.keywords):
                what = f"`{ast.unparse(call)}` hides its arguments behind `**`"
                found.append(at(page, line, what))
    return found


def links_and_tables_can_be_read_aloud(page: Page) -> list[str]:
    """A link has a text, which a role in it would swallow; a column has a name."""
    found = []
    for line, text in page.prose:
        if match := re.search(r"\[[^\]]*\{term\}[^\]]*\]\(", text):
            what = f"the link {match[0]!r} would have no text; write the word outside"
            found.append(at(page, line, what))
    lines = page.text.splitlines()
    for number, (head, rule) in enumerate(pairwise(lines), 1):
        if re.fullmatch(r"\|( *:?-+:? *\|)+", rule) and re.search(r"\| *\|", head):
            found.append(at(page, number, "a column of this table has no name"))
    return found


def a_note_is_referred_to_once(page: Page) -> list[str]:
    """The theme sets a note beside its first mark; a second would lead nowhere."""
    seen: set[str] = set()
    found = []
    for line, text in page.prose:
        for mark in re.findall(r"\[\^[\w-]+\](?!:)", re.sub(r"`[^`]*`", "", text)):
            if mark in seen:
                found.append(at(page, line, f"{mark} stands here a second time"))
            seen.add(mark)
    return found


def it_answers_questions(page: Page) -> list[str]:
    """A page declares questions in readers' words."""
    count = len(page.answers)
    if count >= QUESTIONS:
        return []
    what = f"the page declares {count} questions; {QUESTIONS} or more are usual"
    return [at(page, 1, what)]


def headings_say_something(page: Page) -> list[str]:
    """A heading states the idea of its section or asks its question."""
    found = []
    for heading in page.headings:
        bare = heading.text.rstrip(".:?").lower()
        if heading.level > 1 and (bare in FORMULAS or len(bare.split()) < 2):
            what = f"the heading {heading.text!r} could stand on any page"
            found.append(at(page, heading.line, what))
    return found
