"""The rules of the house: functions from what they judge to sentences of complaint.

A rule that finds nothing returns an empty list; every sentence begins with a file and
a line.  `test_rules.py` applies the rules to the book, and watches each one object to
something small and bad.  What is in `PAGE_ADVICE` and `PROGRAM_ADVICE` fails nothing:
`nox -s advice` lists what it finds.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from book.execute.type_comments.parse import read_type_comments
from book.source.model import Cell, Page
from book.source.parser import read

AXES = ("rows", "inner", "batch", "model", "data", "stage", "expert", "sequence")
AXES += ("height", "width", "slice", "fsdp", "host")
SHORT = 26  # characters that fit on a line of the sidebar
PAINTERS = ("book.draw",)  # what is imported from it needs alt

BANNED = re.compile(
    r"\b(simply|just(?!-in-time)|obviously|note\s+that|please|powerful|seamless(?:ly)?"
    r"|leverag(?:e|es|ed|ing)|delv(?:e|es|ed|ing))\b",
    re.IGNORECASE,
)
TYPED = re.compile(r"#\s*(?:prints?\b|outputs?:|>>>|->|=>|→|⇒)", re.IGNORECASE)
PASTED = re.compile(r"\b(?:Sharded)?DeviceArray\(|(?<![.\w])[Aa]rray\(\[")
TYPED_FENCES = {"", "python", "python3", "py", "pycon", "ipython", "text", "none"}
PATHS = re.compile(
    r"(?<![\w.:/~$}-])/(?:home|Users|root|tmp|work|mnt|opt|srv|var)/[\w.-]"
    r"|\b[A-Z]:\\{1,2}\w"
)
REGISTRIES = re.compile(
    r"--(?:extra-)?index-url|--find[-]links|trusted[-]host"
    r"|//[\w.-]*(?:pypi|pythonhosted|artifactory|nexus|devpi|mirror)[\w-]*\.\w",
    re.IGNORECASE,
)
# What an argument that names axes is called, and where it stands.
AXIS_KEYWORDS = {"axis_name", "axis_names", "spmd_axis_name"}
AXIS_POSITION = {
    **dict.fromkeys(("P", "PartitionSpec"), slice(None)),
    **dict.fromkeys(("axis_index", "axis_size"), slice(1)),
    **dict.fromkeys(("make_mesh", "Mesh", "AbstractMesh"), slice(1, 2)),
    **dict.fromkeys(("psum", "pmean", "pmax", "pmin", "pcast", "pvary"), slice(1, 2)),
    **dict.fromkeys(("all_gather", "all_to_all", "ppermute"), slice(1, 2)),
    **dict.fromkeys(("psum_scatter", "pshuffle", "pswapaxes"), slice(1, 2)),
}


# ---- what is judged --------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A file of `examples/`; `name` is like "vmap/axes"."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed text."""
        return ast.parse(self.text)

    @property
    def is_exercise(self) -> bool:
        """Whether it is one of `examples/exercises/`."""
        return self.name.startswith("exercises/")


@dataclass(frozen=True)
class Book:
    """The pages and programs below the folder `root`."""

    root: Path

    @cached_property
    def page_names(self) -> list[str]:
        """Every page, whether it is in a toctree or not."""
        docs = self.root / "docs"
        found = (p.relative_to(docs).with_suffix("") for p in docs.rglob("*.md"))
        apart = ("_build", "book", "locale")
        return sorted(p.as_posix() for p in found if p.parts[0] not in apart)

    @cached_property
    def program_names(self) -> list[str]:
        """Every program and every exercise."""
        folder = self.root / "examples"
        found = (p.relative_to(folder).with_suffix("") for p in folder.rglob("*.py"))
        return sorted(p.as_posix() for p in found if p.name != "__init__")

    def page(self, name: str) -> Page:
        """Read the page `name`; raises `Problem` as the build does."""
        path = self.root / "docs" / f"{name}.md"
        return _read(path, name, path.read_bytes())

    def program(self, name: str) -> Program:
        """Read the program `name`."""
        path = self.root / "examples" / f"{name}.py"
        return Program(name, path.read_text(encoding="utf-8"))

    def shown(self, page: Page) -> set[str]:
        """The programs that `page` lists, shows compiled, or imports from in a cell."""
        examples = (self.root / "examples").resolve()
        found = {fence.argument for fence in page.fences if fence.name == "compiled"}
        found |= {
            listing.path.relative_to(examples).with_suffix("").as_posix()
            for listing in page.listings
            if listing.path.is_relative_to(examples)
        }
        return found.union(*(used(cell.source) for cell in page.cells))


@cache
def _read(path: Path, name: str, _text: bytes) -> Page:
    """Read a page once, for as long as its text is the same."""
    return read(path, name)


def used(source: str) -> set[str]:
    """The programs that `source` imports from."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if module.startswith("examples."):
            found.add(module.removeprefix("examples.").replace(".", "/"))
    return found


def at(page: Page, line: int, sentence: str) -> str:
    return f"docs/{page.name}.md:{line}: {sentence}."


def _in(program: Program, line: int, sentence: str) -> str:
    return f"examples/{program.name}.py:{line}: {sentence}."


# ---- reading ---------------------------------------------------------------------


def words(page: Page) -> int:
    """How many words of prose a page has; inline code counts as one."""
    return word_count("\n".join(line for _, line in page.prose))


def word_count(text: str) -> int:
    """How many words a text has; inline code counts as one."""
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return len(re.findall(r"`[^`]+`|[^\W_][^\s`]*", text))


def comments(source: str, first: int = 1) -> Iterator[tuple[int, str]]:
    """The comments of `source`, whose first line has the number `first`."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0] + first - 1, token.string


def documented(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """The module, and what is public in it, with their names."""
    yield tree, "the module"
    todo: list[ast.AST] = [tree]
    while todo:
        for node in todo.pop().body:
            known = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if known and not node.name.startswith("_"):
                yield node, f"`{node.name}`"
                todo += [node] if isinstance(node, ast.ClassDef) else []


def called(call: ast.Call) -> str:
    func = call.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name


def calls(source: str) -> list[ast.Call]:
    return [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]


# ---- rules for one page ----------------------------------------------------------


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


def asserts(cell: Cell) -> bool:
    tree = ast.parse(cell.source)
    return any(isinstance(n, ast.Assert) for n in ast.walk(tree)) or any(
        called(call).startswith("assert_") for call in calls(cell.source)
    )


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


def page_axes(page: Page) -> list[str]:
    """Axes have the names of the house on every page."""
    found = []
    for cell in page.cells:
        for line, name in strange_axes(ast.parse(cell.source)):
            found.append(at(page, cell.line + line - 1, _axis(name)))
    return found


def _axis(name: str) -> str:
    return f"an axis is called {name!r}; the names are {', '.join(AXES)}"


def strange_axes(
    tree: ast.AST, known: Iterable[str] = AXES
) -> Iterator[tuple[int, str]]:
    """Line and name of each axis whose name is none of the house's."""
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        named = list(call.args[AXIS_POSITION.get(called(call), slice(0))])
        named += [k.value for k in call.keywords if k.arg in AXIS_KEYWORDS]
        for value in named:
            for node in ast.walk(value):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and text not in known:
                    yield node.lineno, text


def page_is_calm(page: Page) -> list[str]:
    """No page uses a word that the house does not."""
    return banned(page.text, f"docs/{page.name}.md")


def banned(text: str, where: str, first: int = 1) -> list[str]:
    """Complain of banned words in `text`, whose first line is number `first`."""
    found = []
    for match in BANNED.finditer(text):
        line = text.count("\n", 0, match.start()) + first
        word = " ".join(match[0].split())
        found.append(f"{where}:{line}: {word!r} says nothing; leave it out.")
    return found


def page_is_written(page: Page) -> list[str]:
    """Nothing is left to be written."""
    lines = enumerate(page.text.splitlines(), 1)
    return [at(page, n, "a TODO is left") for n, line in lines if "TODO" in line]


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


PAGE_RULES = (
    it_has_a_short_title,
    no_typed_outputs,
    pictures_have_words,
    page_is_written,
)
PAGE_ADVICE = (its_short_title_fits, page_axes, page_is_calm)


# ---- rules for one program -------------------------------------------------------


def everything_is_documented(program: Program) -> list[str]:
    """Every public name has a docstring."""
    return [_in(program, *where) for where in undocumented(program.tree)]


def undocumented(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and complaint for each public name without a docstring."""
    for node, name in documented(tree):
        if not (ast.get_docstring(node) or "").strip():
            yield getattr(node, "lineno", 1), f"{name} has no docstring"


def outputs_are_doctests(program: Program) -> list[str]:
    """An output in a program is a doctest, which is run."""
    found = [
        _in(program, line, f"an output is typed: {text}")
        for line, text in comments(program.text)
        if TYPED.search(text) or PASTED.search(text)
    ]
    for line, text in _docstrings(program):
        in_doctest = False
        for number, one in enumerate(text.splitlines(), line):
            in_doctest = bool(one.strip()) and (in_doctest or ">>> " in one)
            if not in_doctest and PASTED.search(one):
                found.append(_in(program, number, "an output is typed, not a doctest"))
    return found


def _docstrings(program: Program) -> Iterator[tuple[int, str]]:
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                yield node.body[0].lineno, text


def no_type_comments(program: Program) -> list[str]:
    """A comment that begins with a type is a claim, and only cells are verified."""
    what = "a comment begins with a type, which nothing verifies in a program"
    return [
        _in(program, claim.line, what) for claim in read_type_comments(program.text)
    ]


def content_imports_pictures_only(program: Program) -> list[str]:
    """Of the engine, programs know at most how to draw."""
    return [
        _in(program, node.lineno, f"it imports {node.module} of the engine")
        for node in ast.walk(program.tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[0] == "book"
        and node.module != "book.draw"
    ]


def program_axes(program: Program) -> list[str]:
    """Axes have the names of the house in every program."""
    return [_in(program, line, _axis(n)) for line, n in strange_axes(program.tree)]


def program_is_calm(program: Program) -> list[str]:
    """No docstring uses a word that the house does not."""
    where = f"examples/{program.name}.py"
    return [
        sentence
        for line, text in _docstrings(program)
        for sentence in banned(text, where, line)
    ]


def program_is_written(program: Program) -> list[str]:
    """Nothing is left to be written."""
    lines = enumerate(program.text.splitlines(), 1)
    return [_in(program, n, "a TODO is left") for n, line in lines if "TODO" in line]


PROGRAM_RULES = (
    everything_is_documented,
    outputs_are_doctests,
    no_type_comments,
    content_imports_pictures_only,
    program_is_written,
)
PROGRAM_ADVICE = (program_axes, program_is_calm)


# ---- rules for the whole ---------------------------------------------------------


def programs_are_shown(book: Book) -> list[str]:
    """Every program is listed or used on a page, or by a program that is."""
    shown = set().union(*(book.shown(book.page(name)) for name in book.page_names))
    todo = sorted(shown & set(book.program_names))
    while todo:
        more = used(book.program(todo.pop()).text) & set(book.program_names) - shown
        shown |= more
        todo += more
    return [
        f"examples/{name}.py:1: no page lists it or imports from it."
        for name in book.program_names
        if name not in shown
    ]


def pages_are_reachable(book: Book) -> list[str]:
    """Every page is in a toctree that the index leads to."""
    reached, todo = set(), ["index"]
    while todo:
        name = todo.pop()
        if name in book.page_names and name not in reached:
            reached.add(name)
            todo += book.page(name).toctree
    return [
        f"docs/{name}.md:1: no toctree leads to it."
        for name in book.page_names
        if name not in reached
    ]


def short_titles_are_unique(book: Book) -> list[str]:
    """In a chapter no two pages have the same short title."""
    found = []
    for chapter in map(book.page, book.page_names):
        seen: dict[str, str] = {}
        for name in (n for n in chapter.toctree if n in book.page_names):
            page = book.page(name)
            short = (page.short or page.title).casefold()
            if seen.setdefault(short, name) != name:
                found.append(at(page, 1, f"{seen[short]} is called {short!r} too"))
    return found


BOOK_RULES = (programs_are_shown, pages_are_reachable, short_titles_are_unique)


# ---- rules for files -------------------------------------------------------------


def no_private_places(text: str, where: str, private: Iterable[str] = ()) -> list[str]:
    """Complain of paths of a machine and addresses of package indexes."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if PATHS.search(line) or any(place in line for place in private):
            found.append(f"{where}:{number}: a path of one machine.")
        if REGISTRIES.search(line):
            found.append(f"{where}:{number}: the address of a package index.")
    return found


def engine_rules(text: str, where: str) -> list[str]:
    """The engine is documented, and imports nothing of the content."""
    tree = ast.parse(text)
    found = [f"{where}:{line}: {says}." for line, says in undocumented(tree)]
    for node in ast.walk(tree):
        names = [getattr(node, "module", None) or ""]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            if name.split(".")[0] == "examples":
                what = f"it imports {name}: the engine knows nothing of the content"
                found.append(f"{where}:{node.lineno}: {what}.")
    return found
