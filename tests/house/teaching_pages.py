"""How a page teaches: rules for those whose front matter names a `kind`.

Like the rules of `tests/house/book.py`, each is a function from what it judges to
sentences of complaint.  `RULES` are for all kinds, `REFERENCE_RULES` for pages to look
something up on, and `LESSON_RULES` for the lessons of a course.  Those called
`..._ADVICE` fail nothing: `nox -s advice` lists what they find.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from book.source.chapters import LESSON, LOOK_UP, linked_pages
from book.source.exercises import PREFIX
from book.source.model import Cell, Fence, Page
from tests.house import book as house
from tests.house.compiler_choices import what_a_compiler_chose_is_guarded

CELL, COLUMNS, CONCEPT_LESSONS, ENTRY_LESSONS = 15, 80, 12, 2
CONCEPT_WORDS, WORDS_BEFORE_CODE = 900, 150
QUESTIONS, GUESSES = 2, 2
LESSON_WORDS, LESSON_LINKS = range(900, 1601), 3
Rule = Callable[[Page], list[str]]
FORMULAS = frozenset(
    "see it|say it|run it|guess first|look inside|break it|your turn|keep|overview"
    "|introduction|example|examples|notes|summary|conclusion|in short|exercise|setup"
    "|background|details|motivation|further reading".split("|")
)
# What a thing may be called elsewhere, and JAX's word for it.
NOT_OURS = {
    r"\b(?:cut|cuts|cutting)\s+(?:it\s+)?(?:over|along|into|up)\b": "sharded, shards",
    r"\bpieces?\s+of\s+(?:the|an?|its|each)\b": "shard",
    r"\ba copy for everybody\b": "replicated",
    r"\blanes?\b": "example, batch element",
    r"\bthe inner axis\b": "contracting dimension",
    r"\bthe way back\b": "backward pass",
    r"\bon the way\b": "intermediates, residuals",
    r"\b(?:made|traced|compiled) anew\b|\bcompiles again\b": "retraced, recompiled",
    r"\bdear(?:er|est)?\b": "expensive, and how much",
    r"\bwhat is sent\b|\bwhat it sends\b": "communication",
    r"\b(?:talk|talks|talking)\b": "communicate; name the collective",
}
SHOWN = {r"\bblocks?\b": "shard", r"\bhand by hand\b": "what it computes"}
EIGHT = 'jax.config.update("jax_num_cpu_devices", 8)'
JAX = re.compile(r"^(import|from) (jax|flax|optax|orbax|equinox)\b", re.MULTILINE)
LIBRARIES = frozenset(
    ("jax", "numpy", "scipy", "flax", "equinox", "optax", "orbax", "grain")
)


def lessons(page: Page) -> list[Cell]:
    """Return the cells whose code a reader sees as a lesson."""
    return [cell for cell in page.cells if cell.visible]


def code_lines(cell: Cell) -> int:
    """Return how many lines of a cell are not empty."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def it_has_one_title(page: Page) -> list[str]:
    """A page has one title."""
    count = sum(heading.level == 1 for heading in page.headings)
    if count == 1:
        return []
    return [house.at(page, 1, f"the page has {count} titles, not one")]


def it_begins_with_the_answer(page: Page) -> list[str]:
    """Below the title stands prose without a label."""
    start = next((heading.line for heading in page.headings if heading.level == 1), 1)
    first_words = min((n for n, _ in page.prose if n > start), default=sys.maxsize)
    first_fence = min((f.line for f in page.fences if f.line > start), default=start)
    if start < first_fence < first_words:
        what = "the page does not begin with its answer"
        return [house.at(page, first_fence, what)]
    return []


def its_first_code_is_in_view(page: Page) -> list[str]:
    """The first code of a page is not folded."""
    shown = lessons(page)
    if shown and "hide-input" in shown[0].tags:
        return [house.at(page, shown[0].line, "the first code is folded away")]
    return []


def it_sets_eight_devices(page: Page) -> list[str]:
    """The first code that imports JAX on a page for eight devices asks for them."""
    if page.kernel != "mesh-of-eight":
        return []
    for cell in lessons(page):
        if cell.fresh:
            continue
        if EIGHT in cell.source:
            return []
        if JAX.search(cell.source):
            what = f"the first code that imports JAX does not ask for devices: {EIGHT}"
            return [house.at(page, cell.line, what)]
    return []


def it_ends_with_a_card(page: Page) -> list[str]:
    """The last box is *In short*, two to four lines."""
    for fence in page.fences:
        if fence.name == "admonition" and fence.argument == "In short":
            count = sum(line.startswith("- ") for line in fence.body)
            if 2 <= count <= 4:
                return []
            what = f"'In short' has {count} lines that begin with a dash, not 2 to 4"
            return [house.at(page, fence.line, what)]
    last = len(page.text.splitlines())
    return [house.at(page, last, "there is no box 'In short'")]


def checks_prove(page: Page) -> list[str]:
    """Every check asserts something, and a page that runs has a check."""
    found = []
    if page.cells and not any(map(house.asserts, page.cells)):
        found.append(house.at(page, page.cells[0].line, "the page asserts nothing"))
    for cell in page.cells:
        if cell.check and not (cell.raises or house.asserts(cell)):
            found.append(house.at(page, cell.line, "a check that asserts nothing"))
    return found


def names_are_in_view(page: Page) -> list[str]:
    """Lessons import from Python, JAX, NumPy, known libraries and instruments only.

    And from a program that the page lists whole: its reader has seen it.
    """
    whole = [one.path.with_suffix("") for one in page.listings if not one.pyobject]
    listed = [f".{'.'.join(path.parts)}" for path in whole]
    found = []
    for cell in lessons(page):
        for line, module in _imported(ast.parse(cell.source)):
            top = module.split(".")[0]
            ours = module.startswith(("examples.tools", "examples.exercises"))
            known = top in LIBRARIES or top in sys.stdlib_module_names
            seen = any(one.endswith(f".{module}") for one in listed)
            if not (known or ours or seen):
                what = f"a lesson imports from {module}, which no reader has seen"
                found.append(house.at(page, cell.line + line - 1, what))
    return found


def _imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        yield from _imported_by(node)


def _imported_by(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and module of each import that a node of a tree is."""
    if isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.lineno, node.module or "."


def specs_are_written_out(page: Page) -> list[str]:
    """`in_specs=` and `out_specs=` are the lesson: never `**specs`."""
    found = []
    for cell in lessons(page):
        for call in house.calls(cell.source):
            maps = house.called(call) in {"shard_map", "pmap", "vmap", "jit", "smap"}
            line = cell.line + call.lineno - 1
            if maps and any(k.arg is None for k in call.keywords):
                what = f"`{ast.unparse(call)}` hides its arguments behind `**`"
                found.append(house.at(page, line, what))
    return found


def words_are_jaxs(page: Page) -> list[str]:
    """A thing is called what JAX calls it."""
    text = [*page.prose, *((h.line, h.text) for h in page.headings)]
    return [house.at(page, n, what) for n, t in text for what in _private(t, NOT_OURS)]


def _private(text: str, words: dict[str, str]) -> Iterator[str]:
    bare = re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)
    for pattern, better in words.items():
        if match := re.search(pattern, bare, re.IGNORECASE):
            yield f"{match[0]!r} is not JAX's word; say {better}"


def links_and_tables_can_be_read_aloud(page: Page) -> list[str]:
    """A link has a text, which a role in it would swallow; a column has a name."""
    found = []
    for line, text in page.prose:
        if match := re.search(r"\[[^\]]*\{term\}[^\]]*\]\(", text):
            what = f"the link {match[0]!r} would have no text; write the word outside"
            found.append(house.at(page, line, what))
    lines = page.text.splitlines()
    for number, (head, rule) in enumerate(pairwise(lines), 1):
        if re.fullmatch(r"\|( *:?-+:? *\|)+", rule) and re.search(r"\| *\|", head):
            found.append(house.at(page, number, "a column of this table has no name"))
    return found


def a_note_is_referred_to_once(page: Page) -> list[str]:
    """The theme sets a note beside its first mark; a second would lead nowhere."""
    seen: set[str] = set()
    found = []
    for line, text in page.prose:
        for mark in re.findall(r"\[\^[\w-]+\](?!:)", re.sub(r"`[^`]*`", "", text)):
            if mark in seen:
                found.append(house.at(page, line, f"{mark} stands here a second time"))
            seen.add(mark)
    return found


def it_answers_questions(page: Page) -> list[str]:
    """A page declares questions in readers' words."""
    count = len(page.answers)
    if count >= QUESTIONS:
        return []
    what = f"the page declares {count} questions; {QUESTIONS} or more are usual"
    return [house.at(page, 1, what)]


RULES = (
    it_has_one_title,
    it_sets_eight_devices,
    checks_prove,
    specs_are_written_out,
    links_and_tables_can_be_read_aloud,
    a_note_is_referred_to_once,
    what_a_compiler_chose_is_guarded,
)
REFERENCE_RULES = (names_are_in_view,)


# ---- rules for a lesson of the course ----------------------------------------------


def boxes(page: Page, title: str) -> list[Fence]:
    """Return the boxes of a page that are called `title`."""
    found = (fence for fence in page.fences if fence.name == "admonition")
    return [fence for fence in found if fence.argument == title]


def a_lesson_needs_no_book(page: Page) -> list[str]:
    """Its code imports what everybody has, and of the book the check of an exercise."""
    found = []
    for cell in lessons(page):
        for node in ast.walk(ast.parse(cell.source)):
            for line, module in _imported_by(node):
                top = module.split(".")[0]
                known = top in LIBRARIES or top in sys.stdlib_module_names
                if not known and not _is_check(node):
                    what = f"a lesson imports from {module}, which readers do not have"
                    found.append(house.at(page, cell.line + line - 1, what))
    return found


def _is_check(node: ast.AST) -> bool:
    """Whether it is `from examples.exercises.NAME import check`."""
    module = getattr(node, "module", None) or ""
    named = [alias.name for alias in node.names]
    return module.startswith("examples.exercises.") and named == ["check"]


def it_lists_its_program(page: Page) -> list[str]:
    """A lesson shows the program that has grown until then as a whole."""
    for one in page.listings:
        if one.path.parent.parts[-2:] == ("examples", "learn") and not one.pyobject:
            return []
    last = len(page.text.splitlines())
    return [house.at(page, last, "it lists no whole program of examples/learn/")]


def it_lets_the_reader_guess(page: Page) -> list[str]:
    """Twice at least, a lesson asks before it shows."""
    count = len(boxes(page, "Guess"))
    if count >= GUESSES:
        return []
    last = len(page.text.splitlines())
    what = f"boxes called 'Guess': {count}; {GUESSES} or more are usual"
    return [house.at(page, last, what)]


def it_says_where_to_look_it_up(page: Page) -> list[str]:
    """The box *Look it up* leads to the pages behind a lesson."""
    if boxes(page, LOOK_UP):
        return []
    last = len(page.text.splitlines())
    return [house.at(page, last, f"there is no box {LOOK_UP!r}")]


def it_has_an_exercise(page: Page) -> list[str]:
    """A lesson has something to do, and a check that says whether it is done."""
    if any(cell.exercise for cell in page.cells):
        return []
    last = len(page.text.splitlines())
    what = "no cell has `from examples.exercises.NAME import check`"
    return [house.at(page, last, what)]


LESSON_RULES = (
    a_lesson_needs_no_book,
    it_lists_its_program,
    it_says_where_to_look_it_up,
    it_has_an_exercise,
)


def rules_of(page: Page) -> tuple[Rule, ...]:
    """Return the rules for a page of its kind; none where it has no kind."""
    if not page.kind:
        return ()
    return RULES + (LESSON_RULES if page.kind == LESSON else REFERENCE_RULES)


# ---- rules for the whole -----------------------------------------------------------


def exercises_say_jaxs_words(book: house.Book) -> list[str]:
    """Pages show what a mistake and a solution say of themselves, in JAX's words."""
    found = []
    for path in sorted((book.root / "examples" / "exercises").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            named = isinstance(node, ast.FunctionDef) and node.name
            if named and (named == "solution" or named.startswith(PREFIX)):
                said = " ".join((ast.get_docstring(node) or "").split())
                where = f"{path.relative_to(book.root)}:{node.lineno}"
                for what in _private(said, NOT_OURS | SHOWN):
                    found.append(f"{where}: {what}.")
    return found


def questions_are_unique(book: house.Book) -> list[str]:
    """A reader's question is answered in one place."""
    seen: dict[str, str] = {}
    found = []
    for name in book.page_names:
        page = book.page(name)
        for answer in page.answers:
            if answer.question in seen:
                what = f"{answer.question!r} is answered on {seen[answer.question]} too"
                found.append(house.at(page, 1, what))
            seen[answer.question] = name
    return found


def questions_are_collected(book: house.Book) -> list[str]:
    """What a page declares is listed on `evidence/questions`, with its chapter."""
    if "evidence/questions" not in book.page_names:
        return []
    lists = [f for f in book.page("evidence/questions").fences if f.name == "questions"]
    listed = {fence.argument for fence in lists}
    pages = [page for page in map(book.page, book.page_names) if page.answers]
    missing = {page.name.split("/")[0] for page in pages} - listed
    where = "docs/evidence/questions.md:1"
    return [f"{where}: it lacks ```{{questions}} {name}```" for name in sorted(missing)]


BOOK_RULES = (questions_are_unique, questions_are_collected)


# ---- advice: what nobody has to follow -----------------------------------------------


def code_comes_soon(page: Page) -> list[str]:
    """Few words stand above the first code."""
    shown = lessons(page)
    start = next((heading.line for heading in page.headings if heading.level == 1), 0)
    if not shown:
        return []
    first = shown[0].line
    before = [text for n, text in page.prose if start < n < first]
    count = house.word_count("\n".join(before))
    if count <= WORDS_BEFORE_CODE:
        return []
    what = f"{count} words before the first code; {WORDS_BEFORE_CODE} are usual"
    return [house.at(page, first, what)]


def lessons_are_short(page: Page) -> list[str]:
    """A cell, a concept page and an entry of a look-up page have a usual length.

    What is folded away may be long, such as the program of the lesson before.
    """
    found, shown = [], lessons(page)
    for cell in (one for one in shown if "hide-input" not in one.tags):
        if (count := code_lines(cell)) > CELL:
            what = f"a lesson has {count} lines of code; {CELL} is usual"
            found.append(house.at(page, cell.line, what))
        for number, line in enumerate(cell.source.splitlines(), cell.line):
            if len(line) > COLUMNS and not line.startswith(EIGHT):
                what = f"a line of {len(line)} columns; {COLUMNS} is usual"
                found.append(house.at(page, number, what))
    if page.kind == "concept":
        if len(shown) > CONCEPT_LESSONS:
            what = f"{len(shown)} lessons on one page; {CONCEPT_LESSONS} is usual"
            found.append(house.at(page, shown[-1].line, what))
        if (count := house.words(page)) > CONCEPT_WORDS:
            what = f"the page has {count} words of prose; {CONCEPT_WORDS} is usual"
            found.append(house.at(page, 1, what))
    if page.kind != "look-up":
        return found
    heads = [heading.line for heading in page.headings]
    for line, below in zip(heads, [*heads[1:], sys.maxsize], strict=True):
        count = sum(line < cell.line < below for cell in shown)
        if count > ENTRY_LESSONS:
            what = f"an entry has {count} lessons; {ENTRY_LESSONS} is usual"
            found.append(house.at(page, line, what))
    return found


def headings_say_something(page: Page) -> list[str]:
    """A heading states the idea of its section or asks its question."""
    found = []
    for heading in page.headings:
        bare = heading.text.rstrip(".:?").lower()
        if heading.level > 1 and (bare in FORMULAS or len(bare.split()) < 2):
            what = f"the heading {heading.text!r} could stand on any page"
            found.append(house.at(page, heading.line, what))
    return found


def headings_are_unique(book: house.Book) -> list[str]:
    """No two pages have the same heading: an answer has one address.

    But for lessons, which are built alike.
    """
    seen: dict[str, str] = {}
    found = []
    for name in book.page_names:
        page = book.page(name)
        for heading in page.headings if page.kind not in (None, LESSON) else ():
            here = f"docs/{name}.md:{heading.line}"
            there = seen.setdefault(heading.text.lower(), here)
            if there != here:
                what = f"{heading.text!r} is the heading of {there}"
                found.append(house.at(page, heading.line, what))
    return found


def first_uses_lead_to_the_words(book: house.Book) -> list[str]:
    """Where a page first uses a word of `words.md`, a link leads there."""
    words = book.root / "docs" / "words.md"
    if not words.exists():
        return []
    found = []
    for name in book.page_names:
        page = book.page(name)
        if page.kind:
            found += _unlinked(page, terms(words))
    return found


def terms(words: Path) -> list[str]:
    """Return the words that the glossary defines."""
    text = words.read_text(encoding="utf-8")
    return re.findall(r"^(\S.*)\n  \S", text.split("```{glossary}")[1], re.MULTILINE)


def _unlinked(page: Page, known: list[str]) -> Iterator[str]:
    lines = [(n, re.sub(r"\]\([^)]*\)", "]", t)) for n, t in page.prose]
    for term in known:
        first = next((n for n, t in lines if _says(t, term)), None)
        linked = re.search(rf"\{{term\}}`(?:[^`]*<)?{re.escape(term)}>?`", page.text)
        if first and not linked:
            what = f"{term!r} is first used here; write {{term}}`{term}`"
            yield house.at(page, first, what)


def _says(text: str, term: str) -> bool:
    bare = re.sub(r"`[^`]*`", "", text)
    return bool(re.search(rf"(?<![\w-]){re.escape(term)}(?![\w-])", bare))


def a_lesson_takes_half_an_hour(page: Page) -> list[str]:
    """A lesson has enough words to explain, and no more than one sitting."""
    count = house.words(page)
    if count in LESSON_WORDS:
        return []
    usual = f"{LESSON_WORDS[0]:,} to {LESSON_WORDS[-1]:,}"
    return [house.at(page, 1, f"the lesson has {count:,} words; {usual} are usual")]


def a_lesson_stands_alone(page: Page) -> list[str]:
    """Nobody has to leave a lesson: links out of the course stand in its last box."""
    inside = [range(box.line, box.last + 1) for box in boxes(page, LOOK_UP)]
    found = []
    for line, text in page.prose:
        if not any(line in box for box in inside):
            found += [
                line for name in linked_pages(page, text) if _is_outside(page, name)
            ]
    if len(found) <= LESSON_LINKS:
        return []
    what = f"{len(found)} links lead out of the course; {LESSON_LINKS} are usual"
    return [house.at(page, found[LESSON_LINKS], what)]


def _is_outside(page: Page, name: str) -> bool:
    """Whether the page called `name` is in another folder."""
    return name.rpartition("/")[0] != page.name.rpartition("/")[0]


ADVICE = (
    its_first_code_is_in_view,
    words_are_jaxs,
    it_answers_questions,
    code_comes_soon,
    lessons_are_short,
    headings_say_something,
)
REFERENCE_ADVICE = (it_begins_with_the_answer, it_ends_with_a_card)
LESSON_ADVICE = (
    it_lets_the_reader_guess,
    a_lesson_takes_half_an_hour,
    a_lesson_stands_alone,
)
BOOK_ADVICE = (
    exercises_say_jaxs_words,
    headings_are_unique,
    first_uses_lead_to_the_words,
)


def advice_of(page: Page) -> tuple[Rule, ...]:
    """Return the advice for a page of its kind."""
    if not page.kind:
        return house.PAGE_ADVICE
    kind = LESSON_ADVICE if page.kind == LESSON else REFERENCE_ADVICE
    return house.PAGE_ADVICE + ADVICE + kind
