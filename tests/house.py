"""The rules of the house: functions from what they judge to sentences of complaint.

A rule that finds nothing returns an empty list; every sentence begins with a file and
a line.  `test_house.py` applies the rules to the book, and watches each one object to
something small and bad.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from book.cut.marks import marks_of
from book.cut.statements import PAGE, statements
from book.pages import Cell, Page, read

SECTIONS = (
    *("See it", "Say it", "Run it", "Guess first", "Look inside", "Break it"),
    *("Your turn", "Which map do I want?", "Keep"),
)
DEVICE_LINES = (
    'jax.config.update("jax_num_cpu_devices", 8)',
    'devices = (jax.devices() if jax.device_count() >= 8 else jax.devices("cpu"))[:8]',
)
AXES = ("rows", "inner", "batch", "model")
PAINTERS = ("book.draw",)  # what is imported from it needs alt
WORDS = (150, 600)
MOST_WORDS = {"index": 700, "patterns": 1000}
CELL, SETUP, LISTING = 8, 14, 15  # lines of code at most

BANNED = re.compile(
    r"\b(simply|just|obviously|note\s+that|please|powerful|seamless(?:ly)?"
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
        apart = ("_build", "book")
        return sorted(p.as_posix() for p in found if p.parts[0] not in apart)

    @cached_property
    def program_names(self) -> list[str]:
        """Every program and every exercise."""
        folder = self.root / "examples"
        found = (p.relative_to(folder).with_suffix("") for p in folder.rglob("*.py"))
        return sorted(p.as_posix() for p in found if p.name != "__init__")

    def page(self, name: str) -> Page:
        """Read the page `name`; raises `Problem` as the build does."""
        return read(self.root / "docs" / f"{name}.md", name)

    def program(self, name: str) -> Program:
        """Read the program `name`."""
        path = self.root / "examples" / f"{name}.py"
        return Program(name, path.read_text(encoding="utf-8"))

    def shown(self, page: Page) -> set[str]:
        """The programs that `page` lists, or imports from in a cell."""
        examples = (self.root / "examples").resolve()
        found = {
            listing.path.relative_to(examples).with_suffix("").as_posix()
            for listing in page.listings
            if listing.path.is_relative_to(examples)
        }
        for cell in page.cells:
            for node in ast.walk(ast.parse(cell.source)):
                module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
                if module.startswith("examples."):
                    found.add(module.removeprefix("examples.").replace(".", "/"))
        return found


def _at(page: Page, line: int, sentence: str) -> str:
    return f"docs/{page.name}.md:{line}: {sentence}."


def _in(program: Program, line: int, sentence: str) -> str:
    return f"examples/{program.name}.py:{line}: {sentence}."


# ---- reading ---------------------------------------------------------------------

_FENCE = re.compile(r"^[>\s]*(?P<fence>`{3,}|~{3,}|:{3,})\s*(?P<info>.*?)\s*$")
_CONTAINERS = ("{admonition}", "{dropdown}", "{container}", "{note}", "{tip}")


def scan(text: str) -> Iterator[tuple[str, int, str]]:
    """Sort a page's lines: ("prose" | "fence" | "code", number, line or info)."""
    lines = text.splitlines()
    start = lines.index("---", 1) + 1 if lines[:1] == ["---"] else 0
    stack: list[tuple[str, bool]] = []  # fence, whether prose is inside
    options = False
    for number, line in enumerate(lines[start:], start + 1):
        match = _FENCE.match(line)
        inside = not stack or stack[-1][1]
        closes = match and stack and not match["info"]
        if closes and match["fence"].startswith(stack[-1][0]):
            stack.pop()
        elif match and inside:
            fence, info = match["fence"], match["info"]
            reads = info.startswith(_CONTAINERS) or fence[0] == ":"
            stack.append((fence, reads))
            options = reads
            yield "fence", number, info
        elif options and re.match(r"\s*:[\w-]+:", line):
            continue
        else:
            options = False
            yield ("prose" if inside else "code"), number, line


def prose(page: Page) -> list[tuple[int, str]]:
    """The numbered lines that a reader reads as text, headings apart."""
    lines = [(n, line) for kind, n, line in scan(page.text) if kind == "prose"]
    return [(n, line) for n, line in lines if not line.startswith(("#", "%"))]


def headings(page: Page) -> list[tuple[int, int, str]]:
    """Line, level and text of each heading."""
    lines = [(n, line) for kind, n, line in scan(page.text) if kind == "prose"]
    found = [(n, re.match(r"(#+) +(.*)", line)) for n, line in lines]
    return [(n, len(m[1]), m[2].strip()) for n, m in found if m]


def words(page: Page) -> int:
    """How many words of prose a page has; inline code counts as one."""
    text = "\n".join(line for _, line in prose(page))
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


def _called(call: ast.Call) -> str:
    func = call.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name


def _calls(source: str) -> list[ast.Call]:
    return [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]


# ---- rules for one page ----------------------------------------------------------


def no_typed_outputs(page: Page) -> list[str]:
    """What a reader sees as output was put out by the code above it."""
    found = []
    for kind, line, text in scan(page.text):
        if kind == "fence" and text.lower() in TYPED_FENCES:
            what = f"a fence of {text.lower() or 'plain text'} is never run"
            found.append(_at(page, line, f"{what}; make it a cell or a listing"))
        elif kind == "prose" and (PASTED.search(text) or text.startswith(">>> ")):
            found.append(_at(page, line, "an output is typed into the text"))
    for cell in page.cells:
        for line, text in comments(cell.source, cell.line):
            if TYPED.search(text) or PASTED.search(text):
                found.append(_at(page, line, f"an output is typed: {text}"))
    return found


def removed_cells_draw(page: Page) -> list[str]:
    """A cell that the reader cannot see defines nothing that a visible one uses."""
    found, hidden, known = [], {}, set()
    for cell in page.cells:
        for statement in statements(cell.source, PAGE, cell):
            used, line = statement.uses, cell.line + statement.node.lineno - 1
            if not cell.visible:
                hidden |= dict.fromkeys(used.bound, cell.line)
                changed = marks_of(statement).changes
                for name in sorted((used.bound | changed) & known):
                    what = f"a removed cell changes `{name}`, which the page shows"
                    found.append(_at(page, line, what))
                continue
            for name in sorted(((used.reads | used.later) & set(hidden)) - known):
                what = f"`{name}` comes from the removed cell at line {hidden[name]}"
                found.append(_at(page, line, what))
            known |= used.bound
    return found


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
                found.append(_at(page, cell.line + node.lineno - 1, what))
    if page.cells and not any(map(_asserts, page.cells)):
        found.append(_at(page, page.cells[0].line, "the page asserts nothing"))
    return found


def _asserts(cell: Cell) -> bool:
    tree = ast.parse(cell.source)
    return any(isinstance(n, ast.Assert) for n in ast.walk(tree)) or any(
        _called(call).startswith("assert_") for call in _calls(cell.source)
    )


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
            name = _called(node)
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
        found.append(_at(page, 1, what))
    for cell in page.cells:
        limit = SETUP if "hide-input" in cell.tags else CELL
        count = sum(bool(line.strip()) for line in cell.source.splitlines())
        if count > limit:
            what = f"a cell has {count} lines of code; {limit} is the most"
            found.append(_at(page, cell.line, what))
    for listing in page.listings:
        if listing.path.suffix == ".py":
            found += _listing(page, listing)
    return found


def _listing(page: Page, listing) -> list[str]:
    where = listing.path.name
    if not listing.path.is_file():
        return [_at(page, listing.line, f"there is no {where} to list")]
    text = listing.path.read_text(encoding="utf-8")
    count, what = len(text.splitlines()), where
    if listing.pyobject:
        body, node = ast.parse(text).body, None
        for part in listing.pyobject.split("."):
            node = next((n for n in body if getattr(n, "name", None) == part), None)
            if node is None:
                return [_at(page, listing.line, f"{where} has no `{listing.pyobject}`")]
            body = node.body
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        count, what = node.end_lineno - first + 1, f"`{listing.pyobject}`"
    if count <= LISTING:
        return []
    line = f"the listing of {what} has {count} lines; {LISTING} is the most"
    return [_at(page, listing.line, line)]


def sections(page: Page) -> list[str]:
    """A page has one title, and the sections of the house in their order.

    Inside a section, headings of the third level divide a page one looks things up in.
    """
    found, seen = [], -1
    titles = [(line, text) for line, level, text in headings(page) if level == 1]
    if len(titles) != 1:
        found.append(_at(page, 1, f"the page has {len(titles)} titles, not one"))
    for line, text in titles:
        if text.endswith("?"):
            found.append(_at(page, line, "the title is a question, not a task"))
    if not page.cells:
        return found
    allowed = [s for s in SECTIONS if page.name == "index" or not s.endswith("?")]
    for line, level, text in headings(page):
        if level == 1 or (level == 3 and seen >= 0):
            continue
        if level > 2 or text not in allowed:
            what = f"{text!r} is no section; there are {', '.join(allowed)}"
            found.append(_at(page, line, what))
        elif allowed.index(text) <= seen:
            what = f"{text!r} comes after {allowed[seen]!r}, not before it"
            found.append(_at(page, line, what))
        else:
            seen = allowed.index(text)
    if "Keep" not in [text for _, _, text in headings(page)]:
        last = len(page.text.splitlines())
        found.append(_at(page, last, "there is no section 'Keep'"))
    fences = [info for kind, _, info in scan(page.text) if kind == "fence"]
    if "{admonition} In one breath" not in fences:
        found.append(_at(page, titles[0][0] if titles else 1, "no 'In one breath'"))
    return found


def pictures_have_words(page: Page) -> list[str]:
    """Every figure says in a sentence what is seen."""
    found = []
    figures = {
        alias.asname or alias.name
        for cell in page.cells
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.ImportFrom) and node.module in PAINTERS
        for alias in node.names
        if alias.name not in ("chooser", "ledger")  # these are text
    }
    for cell in page.cells:
        for call in _calls(cell.source):
            if not isinstance(call.func, ast.Name) or call.func.id not in figures:
                continue
            alt = next((k.value for k in call.keywords if k.arg == "alt"), None)
            blank = isinstance(alt, ast.Constant) and not str(alt.value or "").strip()
            if alt is None or blank:
                what = f"`{_called(call)}(...)` has no alt"
                found.append(_at(page, cell.line + call.lineno - 1, what))
    for kind, line, text in scan(page.text):
        if kind == "prose" and re.search(r"!\[\s*\]\(", text):
            found.append(_at(page, line, "an image has no alternative text"))
        if kind == "fence" and text.startswith(("{image}", "{figure}")):
            below = page.text.splitlines()[line : line + 5]
            if not any(re.match(r"\s*:alt: *\S", option) for option in below):
                found.append(_at(page, line, "an image has no :alt:"))
    return found


def same_device_lines(page: Page) -> list[str]:
    """Where there is more than one device, the same two lines say so."""
    found, complete = [], False
    for cell in page.cells:
        lines = cell.source.splitlines()
        for number, line in enumerate(lines):
            if tuple(lines[number : number + 2]) == DEVICE_LINES and cell.visible:
                complete = True
            odd = re.match(r'\s*devices = |.*update\("jax_num_cpu_devices"', line)
            if odd and line not in DEVICE_LINES:
                what = f"the device lines are the same on every page, not `{line}`"
                found.append(_at(page, cell.line + number, what))
    if page.kernel == "mesh-of-eight" and not complete:
        what = "the page has a mesh of eight, but not the two device lines together"
        found.append(_at(page, page.cells[0].line, what))
    if page.kernel == "target" and complete:
        what = "eight devices are used; the page's kernel is 'mesh-of-eight'"
        found.append(_at(page, page.cells[0].line, what))
    return found


def page_axes(page: Page) -> list[str]:
    """Axes have the names of the house on every page."""
    found = []
    for cell in page.cells:
        for line, name in strange_axes(ast.parse(cell.source)):
            found.append(_at(page, cell.line + line - 1, _axis(name)))
    return found


def _axis(name: str) -> str:
    return f"an axis is called {name!r}; the names are {', '.join(AXES)}"


def strange_axes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of each axis whose name is none of the house's."""
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        named = list(call.args[AXIS_POSITION.get(_called(call), slice(0))])
        named += [k.value for k in call.keywords if k.arg in AXIS_KEYWORDS]
        for value in named:
            for node in ast.walk(value):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and text not in AXES:
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
    return [_at(page, n, "a TODO is left") for n, line in lines if "TODO" in line]


PAGE_RULES = (
    no_typed_outputs,
    removed_cells_draw,
    comparisons_are_asserted,
    lengths,
    sections,
    pictures_have_words,
    same_device_lines,
    page_axes,
    page_is_calm,
    page_is_written,
)


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
    program_axes,
    program_is_calm,
    program_is_written,
)


# ---- rules for the whole ---------------------------------------------------------


def programs_are_shown(book: Book) -> list[str]:
    """Every program and exercise is listed or used on a page."""
    shown = set().union(*(book.shown(book.page(name)) for name in book.page_names))
    return [
        f"examples/{name}.py:1: no page lists it or imports from it."
        for name in book.program_names
        if name not in shown
    ]


def pages_have_programs(book: Book) -> list[str]:
    """A page that runs shows a program of its own name."""
    found = []
    for name in book.page_names:
        page = book.page(name)
        if name == "index" or not page.cells:
            continue
        if name not in book.program_names:
            found.append(_at(page, 1, f"it has no program examples/{name}.py"))
        elif name not in book.shown(page):
            found.append(_at(page, 1, f"it never shows its own examples/{name}.py"))
    return found


def pages_are_reachable(book: Book) -> list[str]:
    """Every page is in a toctree that the index leads to."""
    reached, todo = set(), ["index"]
    while todo:
        name = todo.pop()
        if name in book.page_names and name not in reached:
            reached.add(name)
            todo += toctree(book.page(name))
    return [
        f"docs/{name}.md:1: no toctree leads to it."
        for name in book.page_names
        if name not in reached
    ]


def toctree(page: Page) -> list[str]:
    """The pages in the toctrees of `page`."""
    found, inside = [], False
    for kind, _, text in scan(page.text):
        if kind == "fence":
            inside = text == "{toctree}"
        elif kind == "code" and inside and text.strip() and not text.startswith(":"):
            entry = re.sub(r".*<(.*)>\s*$", r"\1", text).strip().removesuffix(".md")
            folder = PurePosixPath("/", page.name).parent
            found.append(str(folder / entry).lstrip("/"))
    return found


BOOK_RULES = (programs_are_shown, pages_have_programs, pages_are_reachable)


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


def at_most(text: str, where: str, limit: int) -> list[str]:
    """Complain of a file of `limit` lines or more."""
    count = len(text.splitlines())
    found = f"{where}:{limit}: the file has {count} lines; it stays under {limit}."
    return [found] if count >= limit else []
